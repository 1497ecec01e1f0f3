-- A refund that somebody makes at the acquirer and nobody here: it is an exception, and its report a message of its own kind.
alter table reconciliation_exceptions
  drop constraint reconciliation_exceptions_kind_check,
  add constraint reconciliation_exceptions_kind_check check (
    kind in (
      'refund_after_failure', 'refund_twice', 'refund_undone', 'refund_elsewhere', 'receipt', 'forgotten', 'dispute', 'evidence'
    )
  );
alter table stray_messages
  drop constraint stray_messages_kind_check,
  add constraint stray_messages_kind_check check (kind in ('payment', 'refund', 'look', 'dispute', 'refund_elsewhere'));
