-- Finding what belongs to an object: the events about it, and a journal by its identity.

-- Events about an object that did not happen in the millisecond in which it was made. Identities begin with their time, 13 characters of
-- it to the millisecond: an event of that moment is found by the range of identities that share them. So this index holds no
-- payment.created of a payment that was opened at once, and costs its creation nothing.
create index events_of_subject on events (merchant_id, environment, subject_id, event_id)
where left(event_id::text, 13) <> left(subject_id::text, 13);

-- Pages name a journal by its identity.
create unique index journals_by_identity on journals (merchant_id, environment, journal_id);
