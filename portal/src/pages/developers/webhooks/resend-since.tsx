// Sending again all events since a day, after an outage: as many calls as it takes, each of at most a thousand.
import { useState } from "react";
import { useAction } from "../../../api/action.ts";
import type { Intent } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, SelectField, Submit, TextField, needed } from "../../../ui/form.tsx";
import { say } from "../../../ui/toast.tsx";

const states = ["undelivered", "delivered", "all"] as const;
type Wish = { since: string; state: (typeof states)[number] };

interface Props {
  /** Sends a part again, and says after which event the next one begins. */
  send: (
    body: Wish & { starting_after?: string },
    intent: Intent,
  ) => Promise<{ resent: number; next_cursor: string | null }>;
  /** Prefixes of the API paths to refetch afterwards; all paths when left out. */
  refresh?: readonly string[];
}

export function ResendSince({ send, refresh }: Props) {
  const [open, setOpen] = useState(false);
  const resend = useAction(
    async (wish: Wish, { key }: Intent) => {
      let resent = 0;
      let next: string | undefined;
      for (let part = 0; ; part++) {
        const body = { ...wish, ...(next === undefined ? {} : { starting_after: next }) };
        // One intent in parts: a part that is sent again after a lost answer takes effect once.
        const answer = await send(body, { key: `${key}-${part}` });
        resent += answer.resent;
        if (answer.next_cursor === null) return resent;
        next = answer.next_cursor;
      }
    },
    {
      ...(refresh && { refresh }),
      done: (resent) => {
        say(
          resent === 0
            ? "No such events since that day."
            : `${resent} ${resent === 1 ? "event is" : "events are"} sent again.`,
        );
        setOpen(false);
      },
    },
  );
  const [today] = useState(() => new Date().toISOString().slice(0, 10));
  return (
    <>
      <Button onClick={() => setOpen(true)}>Send again since…</Button>
      <Dialog open={open} onClose={() => setOpen(false)} title="Send events again">
        <Form
          values={{ since: today, state: "undelivered" }}
          action={resend}
          onSubmit={({ since = "", state }) =>
            resend.run({ since, state: states.find((one) => one === state) ?? "undelivered" })
          }
        >
          <p>Each event gets one more attempt now, with the same body and id. The receiver recognizes it by its id.</p>
          <TextField
            name="since"
            label="Since"
            type="date"
            check={needed("A day")}
            hint="From the start of that day, in UTC."
          />
          <SelectField
            name="state"
            label="Which"
            options={[
              { value: "undelivered", label: "events that were given up" },
              { value: "delivered", label: "events that were delivered" },
              { value: "all", label: "all events" },
            ]}
          />
          <Submit>Send them again</Submit>
        </Form>
      </Dialog>
    </>
  );
}
