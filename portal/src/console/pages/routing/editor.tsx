// The routing rules as a table that one edits: a cell a field, what is wrong said at the cell, rows moved by keyboard.
import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";
import { Button } from "../../../ui/button.tsx";
import { say } from "../../../ui/toast.tsx";
import { type Fault, type Row, emptyRow, faultAt } from "./draft.ts";

interface Props {
  rows: readonly Row[];
  onChange: (rows: Row[]) => void;
  faults: readonly Fault[];
  codes: readonly string[];
  disabled: boolean;
}

const heads = [
  "Acquirer",
  "Method",
  "Currency",
  "From (minor)",
  "To (minor)",
  "Priority",
  "Weight",
  "Test: share to acquirer",
] as const;
const methods = ["qris", "va", "card", "ewallet", "bank_transfer"];

export function Editor({ rows, onChange, faults, codes, disabled }: Props) {
  const body = useRef<HTMLTableSectionElement>(null);
  const focusRow = (at: number, name = "gateway_code"): void =>
    // After it is drawn.
    void setTimeout(() => body.current?.querySelector<HTMLElement>(`[data-at="${at}"] [name="${name}"]`)?.focus());
  const put = (at: number, change: Partial<Row>): void =>
    onChange(rows.map((row, place) => (place === at ? { ...row, ...change } : row)));
  const add = (at: number): void => {
    onChange([...rows.slice(0, at), emptyRow(), ...rows.slice(at)]);
    focusRow(at);
  };
  const remove = (at: number): void => {
    onChange(rows.filter((_, place) => place !== at));
    say(`Rule ${at + 1} is removed from the draft.`, "quiet");
    focusRow(Math.max(0, Math.min(at, rows.length - 2)));
  };
  const move = (at: number, by: number, name?: string): void => {
    const to = at + by;
    const row = rows[at];
    if (!row || to < 0 || to >= rows.length) return;
    const rest = rows.filter((_, place) => place !== at);
    onChange([...rest.slice(0, to), row, ...rest.slice(to)]);
    say(`Now rule ${to + 1}.`, "quiet");
    focusRow(to, name);
  };
  const onKeyDown = (event: KeyboardEvent, at: number): void => {
    if (!event.altKey) return;
    const name = (event.target as HTMLInputElement).name || undefined;
    const act = {
      ArrowUp: () => move(at, -1, name),
      ArrowDown: () => move(at, 1, name),
      Enter: () => add(at + 1),
      Delete: () => remove(at),
    }[event.key];
    if (!act || disabled) return;
    event.preventDefault();
    act();
  };
  return (
    <div className="@container">
      <div
        role="group"
        aria-label="Routing rules"
        tabIndex={-1}
        className="overflow-x-auto rounded-md border border-line bg-panel"
      >
        <table className="w-full border-collapse text-left @max-[62rem]:block">
          <thead className="border-b border-line text-xs text-muted @max-[62rem]:hidden">
            <tr>
              {["Rule", ...heads].map((head) => (
                <th key={head} scope="col" className="px-1.5 py-2 font-medium first:pl-4">
                  {head}
                </th>
              ))}
              <th scope="col" className="pr-4 pl-1.5 text-right font-medium">
                Row
              </th>
            </tr>
          </thead>
          <tbody ref={body} className="@max-[62rem]:block">
            {rows.map((row, at) => {
              const cell = (name: keyof Row, label: string): CellProps => ({
                name,
                label: `Rule ${at + 1}: ${label}`,
                value: String(row[name]),
                fault: faultAt(faults, at, name),
                disabled,
                onChange: (value) => put(at, { [name]: value }),
              });
              const whole = faultAt(faults, at);
              return (
                <tr
                  key={row.key}
                  data-at={at}
                  className="border-b border-line align-top last:border-b-0 @max-[62rem]:flex @max-[62rem]:flex-wrap @max-[62rem]:px-2.5 @max-[62rem]:py-1.5"
                  onKeyDown={(event) => onKeyDown(event, at)}
                >
                  <th
                    scope="row"
                    className="py-2.5 pr-1.5 pl-4 font-medium text-muted @max-[62rem]:w-full @max-[62rem]:pb-0 @max-[62rem]:pl-1.5"
                  >
                    <span className="@min-[62rem]:hidden">Rule </span>
                    {at + 1}
                    {whole !== undefined && (
                      <p role="note" className="text-xs @min-[62rem]:w-36 font-normal text-bad">
                        {whole}
                      </p>
                    )}
                  </th>
                  <Cell head={heads[0]}>
                    <Choice {...cell("gateway_code", "acquirer")} options={codes} none="choose" width="w-28" />
                  </Cell>
                  <Cell head={heads[1]}>
                    <Choice {...cell("payment_method", "method")} options={methods} none="any" width="w-32" />
                  </Cell>
                  <Cell head={heads[2]}>
                    <Text {...cell("currency", "currency")} placeholder="any" width="w-14" />
                  </Cell>
                  <Cell head={heads[3]}>
                    <Text {...cell("amount_from_minor", "from")} placeholder="any" width="w-20" numeric />
                  </Cell>
                  <Cell head={heads[4]}>
                    <Text {...cell("amount_to_minor", "to")} placeholder="any" width="w-20" numeric />
                  </Cell>
                  <Cell head={heads[5]}>
                    <Text {...cell("priority", "priority")} width="w-14" numeric />
                  </Cell>
                  <Cell head={heads[6]}>
                    <Text {...cell("weight", "weight")} width="w-14" numeric />
                  </Cell>
                  <Cell head={heads[7]}>
                    <div className="flex items-start gap-1">
                      <Text
                        {...cell("split_percent", "share of the test in percent")}
                        placeholder="%"
                        width="w-12"
                        numeric
                      />
                      <Choice
                        {...cell("split_code", "acquirer of the test")}
                        options={codes}
                        none="none"
                        width="w-28"
                      />
                    </div>
                    {(row.split_code !== "" || row.split_percent !== "") && (
                      <div className="mt-1">
                        <Text {...cell("split_id", "name of the test")} placeholder="named by itself" width="w-41" />
                      </div>
                    )}
                  </Cell>
                  <td className="ml-auto self-end py-1.5 pr-3 pl-1.5 text-right whitespace-nowrap">
                    <Icon label={`Move rule ${at + 1} up`} disabled={disabled || at === 0} onClick={() => move(at, -1)}>
                      <ArrowUp size={15} aria-hidden="true" />
                    </Icon>
                    <Icon
                      label={`Move rule ${at + 1} down`}
                      disabled={disabled || at === rows.length - 1}
                      onClick={() => move(at, 1)}
                    >
                      <ArrowDown size={15} aria-hidden="true" />
                    </Icon>
                    <Icon label={`Delete rule ${at + 1}`} disabled={disabled} onClick={() => remove(at)}>
                      <Trash2 size={15} aria-hidden="true" />
                    </Icon>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button disabled={disabled} onClick={() => add(rows.length)}>
          <Plus size={15} aria-hidden="true" /> Add a rule
        </Button>
        <p className="text-xs text-muted">
          The lowest priority comes first. Rules of equal priority share payments by weight, or by the acquirer's own
          weight where none is given. <kbd>Alt</kbd> with <kbd>↑</kbd> <kbd>↓</kbd> moves a rule, with <kbd>Enter</kbd>{" "}
          adds one below, with <kbd>Delete</kbd> takes it out.
        </p>
      </div>
    </div>
  );
}

function Icon(props: { label: string; disabled: boolean; onClick: () => void; children: ReactNode }) {
  return <Button look="quiet" className="px-1!" {...props} />;
}

interface CellProps {
  name: string;
  label: string;
  value: string;
  fault: string | undefined;
  disabled: boolean;
  onChange: (value: string) => void;
}

/** Where the table is too narrow for its columns, the fields of a rule follow each other, each below its own head. */
function Cell({ head, children }: { head: string; children: ReactNode }) {
  return (
    <td className="px-1.5 py-1.5">
      <p aria-hidden="true" className="text-xs text-muted @min-[62rem]:hidden">
        {head}
      </p>
      {children}
    </td>
  );
}

interface ToldProps {
  fault: string | undefined;
  id: string;
  width: string;
  children: ReactNode;
}

function Told({ fault, id, width, children }: ToldProps) {
  return (
    <div className={width}>
      {children}
      <p id={id} aria-live="polite" className="text-xs text-bad empty:hidden not-empty:mt-1">
        {fault}
      </p>
    </div>
  );
}

function Text({
  width,
  numeric = false,
  placeholder,
  label,
  fault,
  onChange,
  ...rest
}: CellProps & { width: string; numeric?: boolean; placeholder?: string }) {
  const id = useId();
  return (
    <Told fault={fault} id={id} width={width}>
      <input
        {...rest}
        className={numeric ? "field text-right" : "field"}
        aria-label={label}
        aria-invalid={fault !== undefined}
        aria-describedby={id}
        placeholder={placeholder}
        inputMode={numeric ? "numeric" : undefined}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
    </Told>
  );
}

function Choice({
  options,
  none,
  width,
  label,
  fault,
  onChange,
  ...rest
}: CellProps & { options: readonly string[]; none: string; width: string }) {
  const id = useId();
  // What is in the rules and is no acquirer any more is still shown.
  const all = rest.value === "" || options.includes(rest.value) ? options : [...options, rest.value];
  return (
    <Told fault={fault} id={id} width={width}>
      <select
        {...rest}
        className="field"
        aria-label={label}
        aria-invalid={fault !== undefined}
        aria-describedby={id}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">{none}</option>
        {all.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </Told>
  );
}
