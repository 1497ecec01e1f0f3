// The files of an answer: those that are kept, those on their way, and what was wrong with the others.
import { Download, FilePlus2, Trash2, X } from "lucide-react";
import { type DragEvent, useId, useRef, useState } from "react";
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { classes } from "../../../ui/classes.ts";
import { save } from "../../../ui/download.ts";
import { ErrorNote } from "../../../ui/face.tsx";
import { say } from "../../../ui/toast.tsx";
import type { Upload, Uploads } from "./uploads.ts";

type Gathered = Schema<"GatheredEvidence">;
type Kept = Gathered["files"][number];

/** To add to and take from. */
export function Files({ evidence, uploads }: { evidence: Gathered; uploads: Uploads }) {
  const [over, setOver] = useState(false);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  // Where the focus goes from a line that is taken away.
  const focus = (): void => input.current?.focus();
  const { limits } = evidence;
  const dropped = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    uploads.add([...event.dataTransfer.files]);
  };
  return (
    <div
      className={classes("rounded-md border bg-panel", over ? "border-accent" : "border-line")}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={dropped}
    >
      {(evidence.files.length > 0 || uploads.list.length > 0) && (
        <ul aria-label="Files" className="border-b border-line">
          {evidence.files.map((file) => (
            <KeptFile key={nameOf(file)} uuid={evidence.uuid} file={file} onRemoved={focus} />
          ))}
          {uploads.list.map((upload) => (
            <Arriving
              key={upload.id}
              upload={upload}
              onDrop={() => {
                uploads.drop(upload.id);
                focus();
              }}
            />
          ))}
        </ul>
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3">
        <label
          htmlFor={id}
          className="inline-flex min-h-8 cursor-pointer items-center gap-1.5 rounded border border-line px-3 py-1 font-medium focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent hover:bg-hover"
        >
          <FilePlus2 size={14} aria-hidden="true" />
          Add files
          <input
            ref={input}
            id={id}
            type="file"
            multiple
            accept={limits.media_types.join(",")}
            className="sr-only"
            onChange={(event) => {
              uploads.add([...(event.target.files ?? [])]);
              event.target.value = "";
            }}
          />
        </label>
        <p className="text-xs text-muted">
          or drop them here. PDF, PNG or JPEG, {inMebibytes(limits.file_bytes)} each, {limits.files} files and{" "}
          {inMebibytes(limits.files_bytes)} together.
        </p>
      </div>
    </div>
  );
}

const inMebibytes = (bytes: number): string => `${bytes / 1_048_576} MiB`;

/** As people read it. */
function sizeAsText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${Math.round(bytes / 1024)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

const kinds: Record<string, string> = { "application/pdf": "PDF", "image/png": "PNG", "image/jpeg": "JPEG" };

const line = "flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5 last:border-b-0";

/** What a file keeps while others are removed: their numbers move up. A submitted one has no other name, and stays. */
const nameOf = ({ file_id: id, number }: Kept): string => id ?? String(number);

interface KeptProps {
  uuid: string;
  file: Kept;
  /** Called when the file is removed; left out where it cannot be. */
  onRemoved?: () => void;
}

/** A file that is kept: to be saved, and taken back while that is possible. */
export function KeptFile({ uuid, file, onRemoved }: KeptProps) {
  const api = useApi();
  const named = nameOf(file);
  const fetched = useAction(
    async () => {
      const address = `/v1/disputes/${encodeURIComponent(uuid)}/evidence/files/${encodeURIComponent(named)}`;
      const saved = await api.download(address);
      save(saved, saved.name);
    },
    { refresh: [] },
  );
  const removed = useAction(
    () => api.write("DELETE", "/v1/disputes/{uuid}/evidence/files/{file_id}", { path: { uuid, file_id: named } }),
    {
      refresh: ["/v1/disputes/{uuid}/evidence"],
      done: () => {
        say(`${file.name} is removed.`, "quiet");
        onRemoved?.();
      },
    },
  );
  const error = fetched.error ?? removed.error;
  return (
    <li className={line}>
      <span className="min-w-0 flex-1 truncate font-medium" title={file.name}>
        {file.name}
      </span>
      <span className="text-xs text-muted">
        {kinds[file.media_type] ?? file.media_type}, {sizeAsText(file.size_bytes)}
      </span>
      <span className="flex">
        <Button look="quiet" label={`Download ${file.name}`} onClick={() => fetched.run(undefined)}>
          <Download size={14} aria-hidden="true" />
        </Button>
        {onRemoved && (
          <Button
            look="quiet"
            label={`Remove ${file.name}`}
            // The second half of a double click would meet the file that has moved up.
            onClick={({ detail }) => (detail > 1 ? undefined : removed.run(undefined))}
          >
            <Trash2 size={14} aria-hidden="true" />
          </Button>
        )}
      </span>
      {error && (
        <div className="w-full">
          <ErrorNote error={error} />
        </div>
      )}
    </li>
  );
}

function Arriving({ upload: { file, state, sent, why }, onDrop }: { upload: Upload; onDrop: () => void }) {
  const isRefused = state === "refused";
  return (
    <li className={line}>
      <span className={classes("min-w-0 flex-1 truncate", isRefused && "text-muted")} title={file.name}>
        {file.name}
      </span>
      {!isRefused && <progress aria-label={`Sending ${file.name}`} value={sent} max={1} className="h-1.5 w-32" />}
      <span className="text-xs text-muted">
        {isRefused
          ? sizeAsText(file.size)
          : state === "waiting"
            ? "waiting"
            : sent === 1
              ? "being checked"
              : `${Math.floor(sent * 100)} %`}
      </span>
      <Button look="quiet" label={isRefused ? `Dismiss ${file.name}` : `Stop sending ${file.name}`} onClick={onDrop}>
        <X size={14} aria-hidden="true" />
      </Button>
      {isRefused && (
        <p role="alert" className="w-full text-xs text-bad">
          {why}
        </p>
      )}
    </li>
  );
}
