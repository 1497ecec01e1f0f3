// The forms of the status page: an incident, planned work, an update, another title, a corrected text.
import { useAction } from "../../../api/action.ts";
import { fieldTime, instantOf } from "../../../ui/days.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { ChoicesField, Form, SelectField, Submit, TextField, needed } from "../../../ui/form.tsx";
import { useTimeZone } from "../../../ui/time.tsx";
import { type Schema, write } from "../../api/client.ts";

type Incident = Schema<"Incident">;
type Component = Schema<"Component">;
type Impact = Schema<"IncidentImpact">;

const components: readonly Component[] = [
  "api",
  "qris",
  "va",
  "card",
  "ewallet",
  "bank_transfer",
  "webhooks",
  "settlements",
];
const impacts: { value: Impact; label: string }[] = [
  { value: "none", label: "None: for information" },
  { value: "minor", label: "Minor: shown as degraded" },
  { value: "major", label: "Major: shown as degraded" },
  { value: "critical", label: "Critical: shown as an outage" },
];
const refresh = { refresh: ["/v1/incidents", "/v1/status", "/v1/audit"] };

const listOf = (text = ""): Component[] => components.filter((one) => text.split(" ").includes(one));

function Title() {
  return <TextField name="title" label="Title" hint="One line. Everybody reads it." check={needed("A title")} />;
}

function Message({ label = "Message" }: { label?: string }) {
  return (
    <TextField
      name="message"
      label={label}
      hint="Plain text. Say what merchants see and what they should do."
      lines={4}
      check={needed("A message")}
    />
  );
}

function Times() {
  const hint = `By the clocks of ${useTimeZone()}.`;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField name="starts_at" label="From" type="datetime-local" hint={hint} check={needed("A beginning")} />
      <TextField name="ends_at" label="Until" type="datetime-local" hint={hint} check={needed("An end")} />
    </div>
  );
}

function Affected() {
  return <ChoicesField name="components" label="What it affects" options={components} />;
}

export function ReportIncident({ close }: { close: () => void }) {
  const action = useAction((body: Schema<"NewIncident">) => write("POST", "/v1/incidents", { body }), {
    ...refresh,
    done: close,
  });
  return (
    <Dialog open onClose={close} title="Report an incident">
      <Form
        values={{ title: "", impact: "minor", components: "", message: "" }}
        action={action}
        onSubmit={({ title = "", impact, components: chosen, message = "" }) =>
          action.run({ title, impact: impact as Impact, components: listOf(chosen), message })
        }
      >
        <Title />
        <SelectField name="impact" label="Impact" options={impacts} />
        <Affected />
        <Message />
        <Submit>Tell everybody</Submit>
      </Form>
    </Dialog>
  );
}

export function PlanWork({ close }: { close: () => void }) {
  const timeZone = useTimeZone();
  const action = useAction((body: Schema<"NewIncident">) => write("POST", "/v1/incidents", { body }), {
    ...refresh,
    done: close,
  });
  return (
    <Dialog open onClose={close} title="Plan work">
      <Form
        values={{ title: "", components: "", message: "", starts_at: "", ends_at: "" }}
        action={action}
        onSubmit={({ title = "", components: chosen, message = "", starts_at = "", ends_at = "" }) =>
          action.run({
            title,
            impact: "maintenance",
            components: listOf(chosen),
            message,
            starts_at: instantOf(starts_at, timeZone),
            ends_at: instantOf(ends_at, timeZone),
          })
        }
      >
        <Title />
        <Times />
        <Affected />
        <Message />
        <Submit>Tell everybody</Submit>
      </Form>
    </Dialog>
  );
}

export function PostUpdate({ incident, resolve, close }: { incident: Incident; resolve: boolean; close: () => void }) {
  const action = useAction(
    (body: Schema<"NewIncidentUpdate">) =>
      write("POST", "/v1/incidents/{id}/updates", { path: { id: incident.incident_id }, body }),
    { ...refresh, done: close },
  );
  const options = ["investigating", "identified", "monitoring", "resolved"] as const;
  return (
    <Dialog open onClose={close} title={resolve ? `Resolve “${incident.title}”` : `An update of “${incident.title}”`}>
      <Form
        values={{ status: resolve ? "resolved" : "identified", message: "" }}
        action={action}
        onSubmit={({ status, message = "" }) =>
          action.run({ status: options.find((one) => one === status) ?? "monitoring", message })
        }
      >
        {!resolve && <SelectField name="status" label="Status" options={options} />}
        <Message />
        <Submit>{resolve ? "Resolve it" : "Post it"}</Submit>
      </Form>
    </Dialog>
  );
}

export function EditIncident({ incident, close }: { incident: Incident; close: () => void }) {
  const timeZone = useTimeZone();
  const isPlanned = incident.impact === "maintenance";
  const { incident_id: id, title: before, starts_at: starts, ends_at: ends } = incident;
  const action = useAction(
    (body: Schema<"EditIncident">) => write("PATCH", "/v1/incidents/{id}", { path: { id }, body }),
    { ...refresh, done: close },
  );
  const times = isPlanned
    ? { starts_at: fieldTime(starts, timeZone), ends_at: fieldTime(ends ?? starts, timeZone) }
    : {};
  return (
    <Dialog open onClose={close} title="Edit what is said">
      <Form
        values={{ title: before, impact: incident.impact, components: incident.components.join(" "), ...times }}
        action={action}
        onSubmit={({ title = "", impact, components: chosen, starts_at = "", ends_at = "" }) =>
          action.run({
            title,
            components: listOf(chosen),
            ...(!isPlanned
              ? { impact: impact as Impact }
              : {
                  // A time that stays is not sent: it may have passed.
                  ...(starts_at === times.starts_at ? {} : { starts_at: instantOf(starts_at, timeZone) }),
                  ...(ends_at === times.ends_at ? {} : { ends_at: instantOf(ends_at, timeZone) }),
                }),
          })
        }
      >
        <Title />
        {isPlanned ? <Times /> : <SelectField name="impact" label="Impact" options={impacts} />}
        <Affected />
        <Submit>Save</Submit>
      </Form>
    </Dialog>
  );
}

export function CorrectUpdate({
  incident,
  update,
  close,
}: {
  incident: Incident;
  update: Incident["updates"][number];
  close: () => void;
}) {
  const path = { id: incident.incident_id, update_id: update.update_id };
  const action = useAction(
    (message: string) => write("PATCH", "/v1/incidents/{id}/updates/{update_id}", { path, body: { message } }),
    { ...refresh, done: close },
  );
  return (
    <Dialog open onClose={close} title="Correct a text">
      <Form values={{ message: update.message }} action={action} onSubmit={({ message = "" }) => action.run(message)}>
        <Message label="Text" />
        <p className="text-xs text-muted">The page shows that it was corrected. The first text is kept.</p>
        <Submit>Correct it</Submit>
      </Form>
    </Dialog>
  );
}
