-- Payouts of all merchants by the day on which they are due or were made: what operators look at each morning.
create index settlements_payout on settlements (environment, payout_date, settlement_id) include (status, currency, net_minor);
