// Moving the clock by any span.
import type { ApiError } from "../../../api/error.ts";
import { Form, SelectField, Submit, TextField } from "../../../ui/form.tsx";

const units = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 };

interface Props {
  action: { pending: boolean; error: ApiError | undefined };
  advance: (seconds: number) => Promise<void>;
}

export function AdvanceForm({ action, advance }: Props) {
  const submit = ({ seconds = "", unit = "days" }: Record<string, string>): Promise<void> =>
    advance(Number(seconds) * units[unit as keyof typeof units]);
  return (
    <details>
      <summary className="w-fit py-0.5 text-muted hover:text-ink">By another span</summary>
      <div className="mt-3 max-w-xs">
        <Form
          values={{ seconds: "3", unit: "days" }}
          // What is wrong with a button's span is said beside the buttons.
          action={{
            pending: action.pending,
            error: action.error?.details.field === undefined ? undefined : action.error,
          }}
          onSubmit={submit}
        >
          <TextField name="seconds" label="How far" inputMode="numeric" autoComplete="off" check={isCount} />
          <SelectField name="unit" label="In" options={Object.keys(units)} />
          <Submit look="plain">Move the clock</Submit>
        </Form>
      </div>
    </details>
  );
}

function isCount(value: string): string | undefined {
  return /^\s*[1-9]\d{0,7}\s*$/.test(value) ? undefined : "Enter a whole number above zero.";
}
