-- Days of a zone begin at a whole, a half or a quarter hour of UTC, so payments are counted by quarters of an hour. `hour` is when the quarter begins:
-- the column and the table keep their names for the release before, which adds to whole hours. Rows of whole hours stay until the roll-up is made anew.
alter table payment_hours
  drop constraint payment_hours_hour_check,
  add constraint payment_hours_hour_check check (extract(epoch from hour) % 900 = 0);
