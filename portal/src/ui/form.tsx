// Forms: typed values survive errors, and faults are shown at their fields, before and after sending.
import { type FormEvent, type ReactNode, createContext, use, useEffect, useId, useRef, useState } from "react";
import type { ApiError } from "../api/error.ts";
import { Button, type ButtonLook, ignoreHeldEnter } from "./button.tsx";
import { ErrorNote } from "./face.tsx";
import { atField } from "./field-fault.ts";
import { typedMark } from "./typed.ts";

type Values = Record<string, string>;
type Check = (value: string) => string | undefined;
type Tell = (error: ApiError) => string | undefined;

interface FormState {
  values: Values;
  set(name: string, value: string): void;
  /** The fault of a field: of its check, once the field was left or sent, or the service's message about it. */
  faultOf(name: string, check: Check | undefined, tell?: Tell): string | undefined;
  left(name: string): void;
  /** The check of each field, run before anything is sent. */
  checks: Map<string, Check | undefined>;
  pending: boolean;
  /** An error of the service that no field shows. */
  rest: ApiError | undefined;
}

const Context = createContext<FormState | undefined>(undefined);

function useForm(): FormState {
  const form = use(Context);
  if (!form) throw new Error("a field stands outside of a form");
  return form;
}

/** The values of the surrounding form, for parts that depend on them. */
export function useFormValues(): Values {
  return useForm().values;
}

interface FormProps {
  /** The initial values, by the names of the API's fields. */
  values: Values;
  /** Called when every check passes. */
  onSubmit: (values: Values) => unknown;
  /** The state of the action that sends the form. */
  action: { pending: boolean; error: ApiError | undefined };
  children: ReactNode;
}

export function Form({ values: first, onSubmit, action, children }: FormProps) {
  const [values, setValues] = useState(first);
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set());
  const [checks] = useState(() => new Map<string, Check | undefined>());
  const [sent, setSent] = useState<Values>({});
  const element = useRef<HTMLFormElement>(null);
  const told = action.error?.details.field;
  const field = told === undefined ? undefined : fieldAround(told, values);
  const form: FormState = {
    values,
    set: (name, value) => setValues((before) => ({ ...before, [name]: value })),
    left: (name) => setShown((before) => new Set([...before, name])),
    checks,
    faultOf(name, check, tell) {
      // The service's message about a field stays until the field's value changes.
      if (!action.pending && action.error && told !== undefined && field === name && sent[name] === values[name])
        return tell?.(action.error) ?? atField(action.error.message, told, name);
      return shown.has(name) ? check?.(values[name] ?? "") : undefined;
    },
    pending: action.pending,
    rest: action.pending || (field !== undefined && field in values) ? undefined : action.error,
  };
  useEffect(() => {
    if (action.error && field !== undefined) unfold(fieldIn(element.current, field));
  }, [action.error, field]);
  const isTyped = Object.entries(values).some(([name, value]) => value !== (first[name] ?? ""));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (action.pending) return;
    setShown(new Set(checks.keys()));
    const wrong = [...checks].find(([name, check]) => check?.(values[name] ?? "") !== undefined);
    if (wrong) {
      const found = fieldIn(element.current, wrong[0]);
      unfold(found);
      found?.focus();
      return;
    }
    setSent(values);
    void onSubmit(values);
  };
  return (
    <Context value={form}>
      <form
        ref={element}
        noValidate
        onSubmit={submit}
        onKeyDown={ignoreHeldEnter}
        className="space-y-4"
        {...typedMark(isTyped)}
      >
        {children}
      </form>
    </Context>
  );
}

function fieldIn(form: HTMLFormElement | null, name: string): HTMLElement | null {
  return form?.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]`) ?? null;
}

/** Opens what the field is folded into: in there its fault is not seen, and it takes no focus. */
function unfold(field: Element | null): void {
  for (let fold = field?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
}

/** The form's field for the service's path: a fault of `scopes.0` is shown at `scopes`. */
function fieldAround(told: string, values: Values): string {
  const dot = told.lastIndexOf(".");
  return told in values || dot < 0 ? told : fieldAround(told.slice(0, dot), values);
}

/** Registers the check of a field while the field is mounted. */
function useCheck(name: string, check: Check | undefined): void {
  const { checks } = useForm();
  useEffect(() => {
    checks.set(name, check);
    return () => void checks.delete(name);
  }, [checks, name, check]);
}

interface FieldProps {
  name: string;
  label: string;
  hint?: ReactNode;
  /** Returns the fault of a value as a sentence; undefined when it is valid. */
  check?: Check | undefined;
  /** Returns the service's error about the field in the words of the page; undefined to leave the service's own. */
  tell?: Tell | undefined;
}

interface TextFieldProps extends FieldProps {
  type?: "text" | "email" | "password" | "date" | "datetime-local" | "url" | "number";
  placeholder?: string | undefined;
  autoComplete?: string | undefined;
  inputMode?: "text" | "decimal" | "numeric" | undefined;
  /** Number of lines, for more than one. */
  lines?: number | undefined;
  autoFocus?: boolean | undefined;
  /** Monospace, for ids, codes and addresses. */
  mono?: boolean | undefined;
}

export function TextField({ name, label, hint, check, tell, lines, mono, ...rest }: TextFieldProps) {
  const form = useForm();
  useCheck(name, check);
  return (
    <Labelled name={name} label={label} hint={hint} check={check} tell={tell}>
      {(wiring) => {
        const shared = {
          ...rest,
          ...wiring,
          className: mono ? "field font-mono" : "field",
          value: form.values[name] ?? "",
          onChange: (event: { target: { value: string } }) => form.set(name, event.target.value),
          onBlur: () => (form.values[name] ?? "") !== "" && form.left(name),
        };
        return lines === undefined ? <input {...shared} /> : <textarea {...shared} rows={lines} />;
      }}
    </Labelled>
  );
}

interface SelectFieldProps extends FieldProps {
  /** Values, or values with labels. */
  options: readonly (string | { value: string; label: string })[];
}

export function SelectField({ name, label, hint, check, options }: SelectFieldProps) {
  const form = useForm();
  useCheck(name, check);
  return (
    <Labelled name={name} label={label} hint={hint} check={check}>
      {(wiring) => (
        <select
          {...wiring}
          className="field"
          value={form.values[name] ?? ""}
          onChange={(event) => form.set(name, event.target.value)}
        >
          {options.map((option) => {
            const { value, label } = typeof option === "string" ? { value: option, label: option } : option;
            return (
              <option key={value} value={value}>
                {label}
              </option>
            );
          })}
        </select>
      )}
    </Labelled>
  );
}

interface ChoicesFieldProps extends FieldProps {
  options: readonly string[];
}

/** A choice of several values of the API. The field's value is a text with spaces between them. */
export function ChoicesField({ name, label, hint, check, options }: ChoicesFieldProps) {
  const form = useForm();
  useCheck(name, check);
  const id = useId();
  const chosen = new Set((form.values[name] ?? "").split(" ").filter(Boolean));
  const fault = form.faultOf(name, check);
  const put = (option: string, isOn: boolean): void =>
    form.set(name, options.filter((one) => (one === option ? isOn : chosen.has(one))).join(" "));
  return (
    <fieldset aria-describedby={`${id}-hint ${id}-fault`}>
      <legend className="mb-1 font-medium">{label}</legend>
      <div className="grid gap-x-4 sm:grid-cols-2">
        {options.map((option) => (
          <label key={option} className="inline-flex min-h-7 items-center gap-2">
            <input
              type="checkbox"
              name={name}
              className="size-4 accent-accent"
              checked={chosen.has(option)}
              onChange={(event) => put(option, event.target.checked)}
            />
            <code className="font-mono text-xs">{option}</code>
          </label>
        ))}
      </div>
      {hint !== undefined && (
        <p id={`${id}-hint`} className="mt-1 text-xs text-muted">
          {hint}
        </p>
      )}
      <p id={`${id}-fault`} aria-live="polite" className="text-xs text-bad empty:hidden not-empty:mt-1">
        {fault}
      </p>
    </fieldset>
  );
}

interface Wiring {
  id: string;
  name: string;
  "aria-describedby": string;
  "aria-invalid": boolean;
}

function Labelled({
  name,
  label,
  hint,
  check,
  tell,
  children,
}: FieldProps & { children: (wiring: Wiring) => ReactNode }) {
  const id = useId();
  const fault = useForm().faultOf(name, check, tell);
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children({ id, name, "aria-describedby": `${id}-hint ${id}-fault`, "aria-invalid": fault !== undefined })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="mt-1 text-xs text-muted">
          {hint}
        </p>
      )}
      <p id={`${id}-fault`} aria-live="polite" className="text-xs text-bad empty:hidden not-empty:mt-1">
        {fault}
      </p>
    </div>
  );
}

/** The end of a form: its general error, and the button. */
export function Submit({
  children,
  look = "primary",
  beside,
  disabled,
}: {
  children: ReactNode;
  look?: ButtonLook;
  beside?: ReactNode;
  disabled?: boolean;
}) {
  const form = useForm();
  return (
    <div className="space-y-3">
      {form.rest && <ErrorNote error={form.rest} />}
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" look={look} pending={form.pending} disabled={disabled}>
          {children}
        </Button>
        <div className="contents" inert={form.pending}>
          {beside}
        </div>
      </div>
    </div>
  );
}

/** A check that a field is not empty. */
export const needed =
  (what: string): Check =>
  (value) =>
    value.trim() === "" ? `${what} is needed.` : undefined;
