// A decision with what it would do, and the question before it is taken. It may have to wait for a second operator.
import type { ReactNode } from "react";
import { useState } from "react";
import { useAction } from "../../../api/action.ts";
import { Button, type ButtonLook } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit } from "../../../ui/form.tsx";
import { To } from "../../../ui/link.tsx";
import { say } from "../../../ui/toast.tsx";
import type { Schema } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { at } from "../../paths.ts";
import { Effects } from "./effects.tsx";
import { refusalOf } from "./refusal.ts";

type Outlook = Schema<"DecisionOutlook">;

/** The approval that an answer is, when nothing was done but asked for. */
export function askedIn(answer: unknown): Schema<"Approval"> | undefined {
  return (answer as Partial<Schema<"ApprovalAsked">> | undefined)?.approval;
}

/** Told after something was sent: done, or waiting for somebody else. */
export function showOutcome(answer: unknown, done: string): void {
  say(askedIn(answer) ? "It now waits for a second operator, under Approvals." : done);
}

interface Props {
  of: Outlook;
  /** What the button does, as a verb: "Give it to the merchant". */
  verb: string;
  look?: ButtonLook;
  /** The initial values of fields among the children. */
  values?: Record<string, string>;
  send: (typed: Record<string, string>) => Promise<unknown>;
  /** Told when it is done. */
  done: string;
  onDone?: (answer: unknown) => void | Promise<void>;
  children?: ReactNode;
}

/** One decision: its words and its journal, and a button where one's role allows it. */
export function Decision({ of: outlook, verb, look = "plain", values = {}, send, done, onDone, children }: Props) {
  const may = useMay();
  const [isAsking, setAsking] = useState(false);
  const action = useAction(send, {
    done: async (answer) => {
      setAsking(false);
      showOutcome(answer, done);
      await onDone?.(answer);
    },
  });
  const { would_fail: fault, needs_approval: needsTwo, least_role: least } = outlook;
  return (
    <article className="min-w-0 rounded-md border border-line bg-panel p-4" aria-label={verb}>
      <p className="mb-3 wrap-anywhere">{outlook.summary ?? (fault && refusalOf(fault))}</p>
      {fault === null && <Effects of={outlook.effects} />}
      <div className="mt-3 flex flex-wrap items-center gap-3">
        {fault === null && may(least) && (
          <Button look={look} onClick={() => setAsking(true)}>
            {needsTwo ? `Ask: ${verb.charAt(0).toLowerCase()}${verb.slice(1)}` : verb}
          </Button>
        )}
        {fault === null && !may(least) && <span className="text-muted">This needs the role {least}.</span>}
        {needsTwo && <NeedsTwo />}
      </div>
      {isAsking && (
        <Dialog open onClose={() => setAsking(false)} title={verb}>
          <Form values={values} action={action} onSubmit={(typed) => action.run(typed)}>
            <p>{outlook.summary}. It cannot be undone.</p>
            {children}
            {needsTwo && <NeedsTwo />}
            <Submit
              look={look === "danger" ? "danger" : "primary"}
              beside={<Button onClick={() => setAsking(false)}>Back</Button>}
            >
              {needsTwo ? "Ask a second operator" : verb}
            </Submit>
          </Form>
        </Dialog>
      )}
    </article>
  );
}

export function NeedsTwo() {
  return (
    <p className="text-muted">
      The{" "}
      <To to={at.approvalPolicy()} className="link">
        policy
      </To>{" "}
      requires a second operator for this.
    </p>
  );
}
