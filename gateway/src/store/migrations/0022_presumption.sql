-- What a command took for granted is otherwise: its transaction ends here, and it runs again and looks. A lost race, as far as anyone is concerned.
create function presumed_wrongly() returns boolean
language plpgsql as $$
begin
  raise exception 'a row is not what it was taken to be' using errcode = '40001';
end
$$;
