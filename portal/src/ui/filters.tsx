// Filters of a list: typed by a page's declaration, and kept in the address, so that a filtered list can be shared.
import { SlidersHorizontal } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { type Search, useQueryText, useSetQuery } from "../address.ts";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";
import { dayBegin, dayEnd } from "./days.ts";
import { useTimeZone } from "./time.tsx";

interface Choice<Option extends string> {
  kind: "choice";
  label: string;
  options: readonly Option[];
  /** How an option is called on the page. */
  nameOf: (option: string) => string;
}
interface Text {
  kind: "text";
  label: string;
  placeholder: string;
}
interface Day {
  kind: "day";
  label: string;
  edge: "begin" | "end" | undefined;
}
type Filter = Choice<string> | Text | Day;
type FilterSpec = Record<string, Filter>;

const spaced = (option: string): string => option.replaceAll("_", " ");

/** A choice among values of the API, shown under their own names unless the page has better ones. */
export function choice<const Option extends string>(
  label: string,
  options: readonly Option[],
  nameOf = spaced,
): Choice<Option> {
  return { kind: "choice", label, options, nameOf };
}
/** Free text such as an id or an address, applied when the person presses Enter or leaves the field. */
export function text(label: string, placeholder = ""): Text {
  return { kind: "text", label, placeholder };
}
/**
 * A day of the person's time zone, as the pages show times: the API is asked for the instant at which it begins or ends. Without an edge the API gets
 * YYYY-MM-DD, which is a day in UTC.
 */
export function day(label: string, edge?: Day["edge"]): Day {
  return { kind: "day", label, edge };
}

type ValueOf<One> = One extends { options: readonly (infer Option)[] } ? Option : string;
type Values<Spec> = { [Name in keyof Spec]?: ValueOf<Spec[Name]> | undefined };

interface FilterState<Spec extends FilterSpec> {
  spec: Spec;
  /** The set filters, as the API takes them. A value that is not one of a choice's options is left out. */
  value: Values<Spec>;
  /** The same as the person chose them. */
  chosen: Values<Spec>;
  isSet: boolean;
  set(changes: Values<Spec>): void;
  clear(): void;
}

/** Filters with the names of the API's query parameters. Declare the spec outside the component. */
export function useFilters<const Spec extends FilterSpec>(spec: Spec): FilterState<Spec> {
  const search = useQueryText();
  const setQuery = useSetQuery();
  const timeZone = useTimeZone();
  const value: Record<string, string> = {};
  const chosen: Record<string, string> = {};
  for (const [name, filter] of Object.entries(spec)) {
    const told = search[name];
    if (told === undefined || told === "") continue;
    if (filter.kind === "choice" && !filter.options.includes(told)) continue;
    chosen[name] = told;
    value[name] = filter.kind === "day" ? edgeOf(filter, told, timeZone) : told;
  }
  // A changed filter starts at the first page, since a cursor belongs to one list.
  const put = (changes: Search): void => setQuery({ ...search, after: undefined, ...changes });
  return {
    spec,
    value: value as Values<Spec>,
    chosen: chosen as Values<Spec>,
    isSet: Object.keys(value).length > 0,
    set: put,
    clear: () => put(Object.fromEntries(Object.keys(spec).map((name) => [name, undefined]))),
  };
}

function edgeOf({ edge }: Day, told: string, timeZone: string): string {
  if (edge === undefined) return told;
  return edge === "begin" ? dayBegin(told, timeZone) : dayEnd(told, timeZone);
}

export function Filters<Spec extends FilterSpec>({ of }: { of: FilterState<Spec> }) {
  const values = of.chosen as Record<string, string | undefined>;
  const set = (name: string, to: string): void => of.set({ [name]: to } as Values<Spec>);
  const id = useId();
  const [isOpen, setOpen] = useState(of.isSet);
  // On a phone up to two filters are shown; more of them are folded behind a button.
  const isMany = Object.keys(of.spec).length > 2;
  const count = Object.keys(of.value).length;
  return (
    <div className="mb-3 print:hidden">
      {isMany && (
        <div className="flex gap-2 sm:hidden">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setOpen(!isOpen)}
            className="inline-flex min-h-8 items-center gap-1.5 rounded border border-line bg-panel px-3 text-sm font-medium"
          >
            <SlidersHorizontal size={14} aria-hidden="true" />
            {count === 0 ? "Filters" : `Filters · ${count}`}
          </button>
        </div>
      )}
      <form
        id={id}
        role="search"
        aria-label="Filters"
        className={classes(
          "items-end gap-3 max-sm:grid-cols-2 sm:flex sm:flex-wrap",
          isMany && !isOpen ? "hidden" : "max-sm:grid",
          isMany && "max-sm:mt-3",
        )}
        onSubmit={(event) => event.preventDefault()}
      >
        {Object.entries(of.spec).map(([name, filter]) => (
          <FilterField key={name} filter={filter} value={values[name] ?? ""} onChange={(to) => set(name, to)} />
        ))}
        {of.isSet && (
          <Button look="quiet" onClick={() => of.clear()}>
            Clear
          </Button>
        )}
      </form>
    </div>
  );
}

interface FieldProps {
  filter: Filter;
  value: string;
  onChange: (to: string) => void;
}

function FilterField({ filter, value, onChange }: FieldProps) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-0.5 block text-xs text-muted">
        {filter.label}
      </label>
      {filter.kind === "choice" && (
        <select
          id={id}
          className="field min-w-32 max-sm:w-full"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          <option value="">any</option>
          {filter.options.map((option) => (
            <option key={option} value={option}>
              {filter.nameOf(option)}
            </option>
          ))}
        </select>
      )}
      {filter.kind === "day" && (
        <input
          id={id}
          type="date"
          className="field min-w-36 max-sm:w-full"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {/* Made anew when the address changes, which discards text that was not applied. */}
      {filter.kind === "text" && <TextFilter key={value} id={id} filter={filter} value={value} onChange={onChange} />}
    </div>
  );
}

function TextFilter({ id, filter, value, onChange }: FieldProps & { id: string; filter: Text }) {
  const [typed, setTyped] = useState(value);
  const take = (event?: FormEvent): void => {
    event?.preventDefault();
    if (typed.trim() !== value) onChange(typed.trim());
  };
  return (
    <input
      id={id}
      type="search"
      className="field sm:w-52"
      placeholder={filter.placeholder}
      value={typed}
      onChange={(event) => {
        setTyped(event.target.value);
        if (event.target.value === "" && value !== "") onChange("");
      }}
      onKeyDown={(event) => event.key === "Enter" && take(event)}
      onBlur={() => take()}
    />
  );
}
