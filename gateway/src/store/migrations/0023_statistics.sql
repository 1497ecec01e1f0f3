-- Ten buckets of each column say enough: almost every row is found by its key. A hundred, the usual, are a sample of 30,000 rows, with whatever
-- JSON and text is in them, for every table that has grown by half: on a young installation a tenth of all that PostgreSQL did.
do $$
declare
  one record;
begin
  for one in
    select attrelid::regclass as of_table, attname as name
    from pg_attribute
    where attnum > 0 and not attisdropped
      and attrelid in ('payments'::regclass, 'idempotency_keys'::regclass, 'events'::regclass, 'deliveries'::regclass,
        'delivery_attempts'::regclass, 'journals'::regclass, 'entries'::regclass, 'seen_signatures'::regclass)
  loop
    execute format('alter table %s alter column %I set statistics 10', one.of_table, one.name);
  end loop;
end
$$;
