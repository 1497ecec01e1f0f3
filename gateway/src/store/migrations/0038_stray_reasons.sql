-- What an acquirer proved to have sent is kept when it cannot be read, too, and when it is about an attempt that was given up.
alter table stray_messages
  alter column kind drop not null,
  drop constraint stray_messages_reason_check,
  add constraint stray_messages_reason_check
    check (reason in ('unknown operation', 'refused', 'earlier attempt', 'unreadable')),
  add constraint stray_messages_kind_told check ((kind is null) = (reason = 'unreadable'));
