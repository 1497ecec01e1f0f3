// What an operator does for a merchant in a dispute, besides deciding it: gives more time, or submits the answer.
import { useId, useState } from "react";
import { useAction } from "../../../api/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { fieldTime, instantOf } from "../../../ui/days.ts";
import { Form, Submit, TextField, needed } from "../../../ui/form.tsx";
import { useTimeZone } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";
import { type Schema, write } from "../../api/client.ts";

interface Props {
  path: { id: string; environment: Schema<"Environment">; uuid: string };
  close: () => void;
}

const DISPUTE = "/v1/merchants/{id}/books/{environment}/disputes/{uuid}";
const refresh = [DISPUTE, "/v1/waiting", "/v1/audit"];
/** One file, as the API bounds it; and all together, so that they fit into a request with their statement. */
const FILE_BYTES_MAX = 150_000;
const FILES_BYTES_MAX = 165_000;
const FILES_MAX = 10;

/** What is wrong with the files, in a sentence. */
function faultOf(files: readonly File[]): string | undefined {
  if (files.length > FILES_MAX) return `At most ${FILES_MAX} files.`;
  const sum = files.reduce((bytes, { size }) => bytes + size, 0);
  if (files.every(({ size }) => size <= FILE_BYTES_MAX) && sum <= FILES_BYTES_MAX) return undefined;
  return "The files are too large for this form. The merchant can submit files of up to 10 MiB in the portal.";
}

export function MoreTime({ path, due, close }: Props & { due: string }) {
  const timeZone = useTimeZone();
  const action = useAction(
    (evidence_due_at: string) => write("POST", `${DISPUTE}/deadline`, { path, body: { evidence_due_at } }),
    {
      refresh,
      done: () => {
        say("The merchant has until then.");
        close();
      },
    },
  );
  return (
    <Dialog open onClose={close} title="Until when can it be answered?">
      <Form
        values={{ evidence_due_at: fieldTime(due, timeZone) }}
        action={action}
        onSubmit={({ evidence_due_at: typed = "" }) => action.run(instantOf(typed, timeZone))}
      >
        <TextField
          name="evidence_due_at"
          label="Evidence due"
          type="datetime-local"
          hint={`By the clocks of ${timeZone}. Not later than the acquirer's own deadline.`}
          check={needed("A time")}
        />
        <Submit>Set it</Submit>
      </Form>
    </Dialog>
  );
}

export function AnswerFor({ path, close }: Props) {
  const id = useId();
  const [files, setFiles] = useState<readonly File[]>([]);
  const action = useAction(
    async (statement: string) => {
      const read = files.map(async (file) => ({
        name: file.name,
        media_type: file.type === "" ? "application/octet-stream" : file.type,
        content_base64: await base64Of(file),
      }));
      return write("POST", `${DISPUTE}/evidence`, { path, body: { statement, files: await Promise.all(read) } });
    },
    {
      refresh,
      done: () => {
        say("The answer is submitted.");
        close();
      },
    },
  );
  const fault = faultOf(files);
  return (
    <Dialog open onClose={close} title="Answer for the merchant">
      <Form
        values={{ statement: "" }}
        action={action}
        onSubmit={({ statement = "" }) => fault === undefined && action.run(statement)}
      >
        <p>
          What you submit is the merchant's only answer: neither they nor you can change it afterwards. Their draft is
          not part of it.
        </p>
        <TextField
          name="statement"
          label="Statement"
          lines={6}
          check={needed("A statement")}
          hint="What the merchant says happened."
        />
        <div>
          <label htmlFor={id} className="mb-1 block font-medium">
            Files
          </label>
          <input
            id={id}
            type="file"
            multiple
            aria-describedby={`${id}-hint ${id}-fault`}
            className="block w-full text-sm file:mr-3 file:min-h-8 file:rounded file:border file:border-line file:bg-panel file:px-3 file:text-ink"
            onChange={({ target }) => setFiles([...(target.files ?? [])])}
          />
          <p id={`${id}-hint`} className="mt-1 text-xs text-muted">
            At most {FILES_MAX}, of {FILE_BYTES_MAX / 1_000} kB each and {FILES_BYTES_MAX / 1_000} kB together.
          </p>
          <p id={`${id}-fault`} aria-live="polite" className="text-xs text-bad empty:hidden not-empty:mt-1">
            {fault}
          </p>
        </div>
        <Submit beside={<Button onClick={close}>Back</Button>}>Submit it</Submit>
      </Form>
    </Dialog>
  );
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
