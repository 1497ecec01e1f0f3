// The answer while it is written: a draft that keeps itself, files, and its submission.
import { useQueryClient } from "@tanstack/react-query";
import { type RefObject, useEffect, useRef, useState } from "react";
import { refresh, useAction } from "../../../api/action.ts";
import { ApiError, asApiError } from "../../../api/error.ts";
import { useApi } from "../../../api/place.ts";
import { sessionQuery } from "../../../api/session.ts";
import type { Schema } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/dialog.tsx";
import { Form, Submit, TextField, needed, useFormValues } from "../../../ui/form.tsx";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";
import { Files } from "./files.tsx";
import { useUploads } from "./uploads.ts";

type Gathered = Schema<"GatheredEvidence">;
type Values = Record<string, string>;

/** After the last key was pressed. */
const KEEP_AFTER_MS = 800;

const statementNeeded = needed("A statement");

export function Gather({ evidence }: { evidence: Gathered }) {
  const api = useApi();
  const queries = useQueryClient();
  const path = { uuid: evidence.uuid };
  const uploads = useUploads(evidence);
  const [asked, setAsked] = useState(false);
  const [{ first, round }, setFirst] = useState(() => ({ first: valuesOf(evidence), round: 0 }));
  // What is not to be kept, as texts: what the service has, and what was dropped for it.
  const kept = useRef([JSON.stringify(first)]);
  /** A draft that was kept elsewhere, beside what is typed here and not kept. */
  const [other, setOther] = useState<Values | undefined>(undefined);
  // The drafts that the service may have from here: as it last answered, and those whose answers are still to come, or never came.
  const known = useRef([JSON.stringify(valuesOf(evidence))]);
  const know = (draft: Values): void => void (known.current = [...known.current, JSON.stringify(draft)].slice(-3));

  const take = (draft: Values, instead: Values): void => {
    kept.current = [draft, instead].map((values) => JSON.stringify(values));
    known.current = [JSON.stringify(draft)];
    setOther(undefined);
    setFirst({ first: draft, round: round + 1 });
  };
  /**
   * True when another tab or person has kept another draft meanwhile, and something else is typed here: the page then shows both. Throws where nothing is typed
   * here: the form goes on with that draft.
   */
  const differs = async (values: Values): Promise<boolean> => {
    const now = await api.readOnce(new AbortController().signal, "/v1/disputes/{uuid}/evidence", { path });
    const draft = valuesOf(now);
    if (!now.can_change || known.current.includes(JSON.stringify(draft))) {
      setOther(undefined);
      return false;
    }
    if (kept.current.includes(JSON.stringify(values))) {
      take(draft, values);
      const message = "The draft was changed in another tab or by somebody else.";
      throw new ApiError({ code: "DRAFT_CHANGED", status: 409, message });
    }
    setOther(draft);
    return true;
  };
  /** Gives undefined when nothing is kept, since the page shows both drafts. */
  const keep = async (values: Values): Promise<Gathered | undefined> => {
    if (await differs(values)) return undefined;
    const body = bodyOf(values);
    know(valuesOf({ ...nothingGiven, ...body }));
    const answer = await api.write("PUT", "/v1/disputes/{uuid}/evidence", { path, body });
    kept.current = [JSON.stringify(values)];
    know(valuesOf(answer));
    return answer;
  };
  const save = useAction(keep, { refresh: [] });

  const submit = async (): Promise<void> => {
    try {
      await differs(JSON.parse(kept.current[0] ?? "{}") as Values);
      await api.write("POST", "/v1/disputes/{uuid}/evidence/submit", { path });
      say("Your answer is submitted.");
    } finally {
      await refresh(queries, ["/v1/disputes", "/v1/overview", "/v1/payments"]);
    }
  };

  return (
    <>
      <Section title="Files">
        <Files evidence={evidence} uploads={uploads} />
      </Section>
      <Section title="Your answer">
        <div className="rounded-md border border-line bg-panel p-4">
          <Form
            key={round}
            values={first}
            action={save}
            onSubmit={async (values) => {
              if (await save.run(values)) setAsked(true);
            }}
          >
            <TextField
              name="statement"
              label="Statement"
              lines={8}
              check={statementNeeded}
              hint="What happened, in your words. Whoever decides reads this first."
            />
            {evidence.asked.asks_delivery && (
              <div className="grid gap-4 sm:grid-cols-3">
                <TextField name="carrier" label="Carrier" placeholder="JNE" />
                <TextField name="tracking_number" label="Tracking number" mono />
                <TextField name="delivered_on" label="Delivered on" type="date" />
              </div>
            )}
            {other && (
              <Other
                draft={other}
                onTake={(typed) => take(other, typed)}
                onKeepOwn={(typed) => {
                  known.current = [JSON.stringify(other)];
                  setOther(undefined);
                  return save.run(typed);
                }}
              />
            )}
            <Submit beside={<Keeper keep={keep} kept={kept} savedAt={evidence.saved_at} />}>Submit…</Submit>
          </Form>
        </div>
      </Section>
      <Confirm
        open={asked}
        onClose={() => setAsked(false)}
        title="Submit your answer?"
        verb="Submit it"
        look="primary"
        onConfirm={submit}
      >
        <p>
          {sentAs(evidence.files.length)} to whoever decides. You can submit once, and cannot change anything
          afterwards.
        </p>
        {uploads.isBusy && (
          <p className="font-medium text-bad">A file is still uploading and would not be part of it.</p>
        )}
      </Confirm>
    </>
  );
}

function sentAs(files: number): string {
  if (files === 0) return "The statement goes, without files,";
  return `The statement and ${files === 1 ? "one file" : `${files} files`} go`;
}

interface OtherProps {
  draft: Values;
  onTake: (typed: Values) => void;
  onKeepOwn: (typed: Values) => unknown;
}

/** The choice between what is typed here and a draft that was kept elsewhere: only one of them is submitted. */
function Other({ draft, onTake, onKeepOwn }: OtherProps) {
  const typed = useFormValues();
  const texts = Object.values(draft).filter((text) => text !== "");
  return (
    <section aria-label="The draft that was kept elsewhere" className="space-y-3 rounded border border-warn/50 p-3">
      <p className="font-medium text-warn">Another draft was kept elsewhere. What you have typed here is not kept.</p>
      <p className="max-h-48 overflow-y-auto wrap-anywhere whitespace-pre-wrap text-muted">{texts.join("\n")}</p>
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => onTake(typed)}>Go on with that draft</Button>
        <Button onClick={() => onKeepOwn(typed)}>Keep mine in its place</Button>
      </div>
    </section>
  );
}

const nothingGiven = { statement: "", carrier: null, tracking_number: null, delivered_on: null };

function valuesOf(given: Pick<Gathered, keyof typeof nothingGiven>): Values {
  const { statement, carrier, tracking_number, delivered_on } = given;
  return {
    statement,
    carrier: carrier ?? "",
    tracking_number: tracking_number ?? "",
    delivered_on: delivered_on ?? "",
  };
}

function bodyOf({ statement = "", ...rest }: Values): Schema<"EvidenceText"> {
  return { statement, ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value.trim() !== "")) };
}

interface KeeperProps {
  keep: (values: Values) => Promise<Gathered | undefined>;
  /** Values that need no keeping, as texts. */
  kept: RefObject<string[]>;
  savedAt: string | null;
}

/** Keeps the draft a moment after the last change, and says so. */
function Keeper({ keep, kept, savedAt }: KeeperProps) {
  const values = useFormValues();
  const text = JSON.stringify(values);
  const latest = useRef({ keep, values });
  const [state, setState] = useState<{ at: string | null; pending: boolean; error?: ApiError }>({
    at: savedAt,
    pending: false,
  });
  useEffect(() => {
    latest.current = { keep, values };
  });
  useEffect(() => {
    if (kept.current.includes(text)) return undefined;
    const timer = setTimeout(async () => {
      setState(({ at }) => ({ at, pending: true }));
      try {
        const answer = await latest.current.keep(latest.current.values);
        setState({ at: answer?.saved_at ?? null, pending: false });
      } catch (thrown) {
        setState(({ at }) => ({ at, pending: false, error: asApiError(thrown) }));
      }
    }, KEEP_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text, kept]);
  // Who leaves the page has not waited. Where the page ends because another person has signed in, it would be kept in that one's name.
  const queries = useQueryClient();
  const [writer] = useState(() => queries.getQueryData(sessionQuery.queryKey)?.person.person_id);
  useEffect(
    () => () => {
      const { keep, values } = latest.current;
      const isHere = queries.getQueryData(sessionQuery.queryKey)?.person.person_id === writer;
      if (isHere && !kept.current.includes(JSON.stringify(values))) keep(values).catch(() => undefined);
    },
    [kept, queries, writer],
  );
  return (
    <p role="status" className="text-xs text-muted">
      {state.error ? (
        <span className="text-bad">The draft could not be saved: {state.error.message}</span>
      ) : state.pending ? (
        "Saving the draft…"
      ) : (
        state.at !== null && (
          <>
            Draft kept, <Time at={state.at} />
          </>
        )
      )}
    </p>
  );
}
