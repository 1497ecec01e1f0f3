// From a merchant to what is in its two books.
import { To } from "../../../ui/link.tsx";
import { withSearch } from "../../../paths.ts";
import { at } from "../../paths.ts";

export const environments = ["sandbox", "production"] as const;

export function BookLinks({ id }: { id: string }) {
  return (
    <ul className="divide-y divide-line rounded-md border border-line bg-panel">
      {environments.map((environment) => (
        <li key={environment} className="flex min-h-9 flex-wrap items-center gap-x-6 px-4 py-1 max-sm:gap-x-4">
          <span className="min-w-24 font-medium max-sm:w-full">{environment}</span>
          <To to={withSearch(at.payments(), { merchant_id: id, environment })}>
            <span className="sr-only">{environment}: </span>Payments
          </To>
          <To to={at.settlements(id, environment)}>
            <span className="sr-only">{environment}: </span>Settlements
          </To>
          <To to={at.disputes(id, environment)}>
            <span className="sr-only">{environment}: </span>Disputes
          </To>
          <To to={at.ledger(id, environment)}>
            <span className="sr-only">{environment}: </span>Ledger
          </To>
          <To to={at.events(id, environment)}>
            <span className="sr-only">{environment}: </span>Events
          </To>
        </li>
      ))}
    </ul>
  );
}
