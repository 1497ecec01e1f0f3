-- Fault injection for merchants' developers. Endpoints stand with merchants, deliveries with events.

-- How the deliveries of a sandbox misbehave on purpose.
create table injected_faults (
  merchant_id uuid not null,
  environment environment not null check (environment = 'sandbox'),
  mode text not null check (mode ~ '^[a-z_]{1,40}$'),
  remaining integer check (remaining between 0 and 10000), -- deliveries left; null: until it is switched off
  primary key (merchant_id, environment),
  foreign key (merchant_id, environment) references books
);

grant select, insert, update, delete on injected_faults to gerbang_app;
