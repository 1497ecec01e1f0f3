-- What is due waits in queues, one for each book and host, so that nobody has to look past what is owed to a host that
-- takes no more.

-- The queue's number is a digest of the host: a scan over hosts can begin anywhere among them, and nobody can choose a host
-- that shares a queue with another's.
alter table deliveries
  add column queue bigint
  generated always as (('x' || left(md5(lower(substring(url from '^https://([^/?#]+)'))), 16))::bit(64)::bigint) stored;

drop index deliveries_first;
drop index deliveries_again;
create index deliveries_first on deliveries (merchant_id, environment, queue, next_attempt_at)
where state = 'pending' and attempts = 0;
create index deliveries_again on deliveries (merchant_id, environment, queue, next_attempt_at)
where state = 'pending' and attempts > 0;
-- What is most overdue in a book, whatever its host.
create index deliveries_due on deliveries (merchant_id, environment, next_attempt_at) where state = 'pending';

-- A delivery that is set aside, untried, has a moment until which it is left alone, and no token: nobody is trying it.
alter table deliveries
  drop constraint deliveries_check,
  add constraint deliveries_lease check (lease_token is null or leased_until is not null);
