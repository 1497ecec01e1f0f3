-- A payment that its merchant cancels, or whose time is over, is ended at its acquirer too: what is said then is kept as the rest is.
alter table acquirer_messages
  drop constraint acquirer_messages_call_check,
  add constraint acquirer_messages_call_check
    check (call in ('open', 'inquire', 'cancel', 'refund', 'inquire_refund', 'submit_evidence', 'report'));
