"""The log: how checkpoints are laid out in a database, the same in each.

A checkpoint is a row that says what it changes in its parent (`body`). A list that is long enough is kept apart,
item by item, and the row says only where its items are (`values`); what a step did to it is found without looking
at what was there before (`growth`). A value that is large is kept once, by its digest. A commit is encoded at once
(`entries`; what it asks, as rows: `filing`) and turned into what is to be written (`plans`); a database has to know
how to apply a plan, and how to find rows (`backend`; in SQL, by `conditions`). The procedures out of these are the
same for all: `appending`, `reading`, `keeping`.
"""
