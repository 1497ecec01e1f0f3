// The book that a page is about, as its address names it, and the way to the same page of the other book.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../../address.ts";
import { classes } from "../../../ui/classes.ts";
import { To } from "../../../ui/link.tsx";
import { type Schema, read } from "../../api/client.ts";
import { environments } from "./book-links.tsx";

interface Book {
  id: string;
  environment: Schema<"Environment">;
}

/** Whatever word the address has for the environment: the service says that there is no such book. */
export function useBook(): Book {
  return { id: usePart("id"), environment: usePart("environment") as Book["environment"] };
}

/** The name of the merchant; its identity until that is there. */
export function useMerchantName(id: string): string {
  return useQuery(read("/v1/merchants/{id}", { path: { id } })).data?.name ?? id;
}

/** Both books of a merchant; the one that is shown is marked. */
export function BookSwitch({ of, to }: { of: Book; to: (id: string, environment: string) => string }) {
  return (
    <nav aria-label="Books" className="flex gap-1">
      {environments.map((environment) => (
        <To
          key={environment}
          to={to(of.id, environment)}
          aria-current={environment === of.environment ? "page" : undefined}
          className={classes(
            "inline-flex min-h-8 items-center rounded border px-3",
            environment === of.environment
              ? "border-line bg-panel font-medium"
              : "border-transparent text-muted hover:bg-hover hover:text-ink",
          )}
        >
          {environment}
        </To>
      ))}
    </nav>
  );
}
