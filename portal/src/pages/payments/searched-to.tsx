// How far a search has looked, where it did not look at everything, and the way on.
import { useQueryText, useSetQuery } from "../../address.ts";
import { Button } from "../../ui/button.tsx";
import { Time } from "../../ui/time.tsx";

interface Found {
  searched_to: string | null;
  next_cursor: string | null;
}

export function SearchedTo({ of: found }: { of: Found }) {
  const search = useQueryText();
  const setQuery = useSetQuery();
  const { searched_to: to, next_cursor: next } = found;
  if (to === null || next === null) return null;
  return (
    <div className="mt-3 flex flex-wrap items-center gap-3 text-muted">
      <p>
        Searched back to <Time at={to} />. Set dates to narrow the search.
      </p>
      <Button onClick={() => setQuery({ ...search, after: next })}>Search further back</Button>
    </div>
  );
}
