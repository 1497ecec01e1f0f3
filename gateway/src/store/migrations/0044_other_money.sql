-- Money that an acquirer says was paid, or paid back, and that is not the ordered money: an exception of a kind of its own.
alter table reconciliation_exceptions
  drop constraint reconciliation_exceptions_kind_check,
  add constraint reconciliation_exceptions_kind_check check (
    kind in (
      'refund_after_failure', 'refund_twice', 'refund_undone', 'refund_elsewhere', 'other_money', 'receipt', 'forgotten', 'dispute',
      'evidence'
    )
  );
