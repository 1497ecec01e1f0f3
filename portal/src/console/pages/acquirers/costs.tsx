// What an acquirer charges, stated row by row: what-ifs and split tests reckon with it.
import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useAction } from "../../../api/action.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { typedMark } from "../../../ui/typed.ts";
import { type Schema, read, write } from "../../api/client.ts";

type Cost = Schema<"StatedCost">;
type Row = Record<
  "payment_method" | "currency" | "basis_points" | "flat_minor" | "minimum_minor" | "maximum_minor",
  string
>;

interface Props {
  of: Schema<"Acquirer">;
  mayChange: boolean;
  close: () => void;
}

export function Costs({ of: acquirer, mayChange, close }: Props) {
  const path = { gateway_code: acquirer.gateway_code };
  const stated = useQuery(read("/v1/acquirers/{gateway_code}/costs", { path }));
  return (
    <Dialog open wide onClose={close} title={`What ${acquirer.name} charges`}>
      <p className="mb-3 text-muted">
        For each payment that is paid. 100 basis points are 1 %; amounts are in minor units. Where you state no cost,
        the acquirer's profile applies; if that has none either, the cost is unknown.
      </p>
      <Answer of={stated}>
        {({ costs }) => <Table acquirer={acquirer} first={costs.map(rowOf)} mayChange={mayChange} close={close} />}
      </Answer>
    </Dialog>
  );
}

const columns: [name: keyof Row, label: string][] = [
  ["currency", "Currency"],
  ["basis_points", "Basis points"],
  ["flat_minor", "Flat"],
  ["minimum_minor", "At least"],
  ["maximum_minor", "At most"],
];

function Table({ acquirer, first, mayChange, close }: Omit<Props, "of"> & { acquirer: Props["of"]; first: Row[] }) {
  const [rows, setRows] = useState(first);
  const action = useAction(
    (costs: Cost[]) =>
      write("PUT", "/v1/acquirers/{gateway_code}/costs", {
        path: { gateway_code: acquirer.gateway_code },
        body: { costs },
      }),
    { refresh: ["/v1/acquirers"], done: close },
  );
  const put = (at: number, name: keyof Row, value: string): void =>
    setRows(rows.map((row, place) => (place === at ? { ...row, [name]: value } : row)));
  const fault = (at: number, name: keyof Row): string | undefined =>
    action.error?.details.field === `costs.${at}.${name}` ? action.error.message : undefined;
  const add = (): void =>
    setRows([
      ...rows,
      {
        payment_method: acquirer.methods[0] ?? "qris",
        currency: "IDR",
        basis_points: "0",
        flat_minor: "0",
        minimum_minor: "",
        maximum_minor: "",
      },
    ]);
  return (
    <div className="space-y-3" {...typedMark(rows !== first)}>
      <div role="group" aria-label="Costs" tabIndex={-1} className="overflow-x-auto">
        <table className="w-full text-left">
          <thead className="text-xs text-muted">
            <tr>
              <th scope="col" className="py-1 font-medium">
                Method
              </th>
              {columns.map(([name, label]) => (
                <th key={name} scope="col" className="px-1 py-1 font-medium">
                  {label}
                </th>
              ))}
              <th scope="col" className="py-1 text-right font-medium">
                Row
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at} className="align-top">
                <td className="py-1 pr-1">
                  <select
                    className="field min-w-24"
                    aria-label={`Row ${at + 1}: method`}
                    disabled={!mayChange}
                    value={row.payment_method}
                    onChange={(event) => put(at, "payment_method", event.target.value)}
                  >
                    {acquirer.methods.map((method) => (
                      <option key={method}>{method}</option>
                    ))}
                  </select>
                </td>
                {columns.map(([name, label]) => (
                  <td key={name} className="p-1">
                    <input
                      className="field min-w-20"
                      aria-label={`Row ${at + 1}: ${label.toLowerCase()}`}
                      aria-invalid={fault(at, name) !== undefined}
                      disabled={!mayChange}
                      value={row[name]}
                      autoComplete="off"
                      inputMode={name === "currency" ? "text" : "numeric"}
                      onChange={(event) => put(at, name, event.target.value)}
                    />
                    {fault(at, name) !== undefined && <p className="mt-1 text-xs text-bad">{fault(at, name)}</p>}
                  </td>
                ))}
                <td className="py-1 text-right">
                  <Button
                    look="quiet"
                    label={`Delete row ${at + 1}`}
                    disabled={!mayChange}
                    onClick={() => setRows(rows.filter((_, place) => place !== at))}
                  >
                    <Trash2 size={15} aria-hidden="true" />
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length === 0 && <p className="py-2 text-muted">No costs are stated yet.</p>}
      </div>
      {action.error && <ErrorNote error={action.error} />}
      {mayChange && (
        <div className="flex flex-wrap gap-2">
          <Button onClick={add}>Add a row</Button>
          <Button look="primary" pending={action.pending} onClick={() => action.run(rows.map(costOf))}>
            State these costs
          </Button>
        </div>
      )}
    </div>
  );
}

function rowOf(cost: Schema<"AcquirerCostRule">): Row {
  const text = (value: number | null): string => (value === null ? "" : String(value));
  return {
    payment_method: cost.payment_method,
    currency: cost.currency,
    basis_points: text(cost.basis_points),
    flat_minor: text(cost.flat_minor),
    minimum_minor: text(cost.minimum_minor),
    maximum_minor: text(cost.maximum_minor),
  };
}

/** What is no number goes as it was typed: the service says what is wrong with it, and where. */
function costOf({ payment_method: method, currency, ...typed }: Row): Cost {
  const numbers = Object.entries(typed)
    .filter(([, text]) => text.trim() !== "")
    .map(([name, text]) => [name, /^\d+$/.test(text.trim()) ? Number(text) : text]);
  return { payment_method: method, currency: currency.trim().toUpperCase(), ...Object.fromEntries(numbers) } as Cost;
}
