-- Operators see the operations whose outcome stays unknown. The index holds only those that are being asked about.
create index acquirer_operations_unknown on acquirer_operations (operation_id) where step = 'inquiring';
