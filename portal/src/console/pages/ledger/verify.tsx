// Whether a book is clean: every journal is replayed from the first, and the chain's end is told to compare.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../../api/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time, TimeFromNow } from "../../../ui/time.tsx";
import { type Schema, read } from "../../api/client.ts";
import { useBook } from "../merchants/book.tsx";

type Book = Schema<"Book">;

export function Verify({ of: book }: { of: Book }) {
  const path = useBook();
  const queries = useQueryClient();
  const [began, setBegan] = useState("");
  const verify = useAction(
    async () => {
      setBegan(new Date().toISOString());
      const report = await queries.fetchQuery({
        ...read("/v1/merchants/{id}/books/{environment}/verify", { path }),
        retry: false,
        staleTime: 0,
      });
      return { ...report, at: new Date().toISOString() };
    },
    // The totals and the end of the chain belong to what was replayed.
    { refresh: ["/v1/merchants/{id}/books/{environment}"] },
  );
  const { result } = verify;
  return (
    <Section
      title="Chain"
      actions={
        <Button look="primary" pending={verify.pending} onClick={() => verify.run(undefined)}>
          Verify the book
        </Button>
      }
    >
      <div className="space-y-3">
        <Facts>
          <Fact name="Journals">{book.journals.toLocaleString("en")}</Fact>
          <Fact name="Verified">
            {result ? (
              <Time at={result.at} />
            ) : (
              <span className="text-muted">{verify.pending ? "being replayed" : "not on this page yet"}</span>
            )}
          </Fact>
        </Facts>
        <div className="rounded-md border border-line bg-panel px-4 py-2">
          <p className="text-muted">Hash of its newest journal, and through it of all before</p>
          <p className="break-all">
            <Identity id={book.head_hash} what="the hash of the chain's end" />
          </p>
        </div>
        <div role="status">
          {verify.pending && (
            <p className="rounded-md border border-line bg-panel px-4 py-3">
              Replaying {book.journals.toLocaleString("en")} journals from the first one. It takes as long as the book
              is; begun <TimeFromNow at={began} ticking />.
            </p>
          )}
          {result && !verify.pending && <Report of={result} head={book.head_hash} />}
        </div>
        {verify.error && <ErrorNote error={verify.error} />}
      </div>
    </Section>
  );
}

function Report({ of: { clean, journals, wrong }, head }: { of: Schema<"BookReport">; head: string }) {
  return (
    <div className="rounded-md border border-line bg-panel px-4 py-3">
      <p>
        <Status status={clean ? "clean" : "not clean"} tone={clean ? "good" : "bad"} />
      </p>
      {clean ? (
        <p className="mt-1 wrap-anywhere">
          {journals.toLocaleString("en")} {journals === 1 ? "journal was" : "journals were"} replayed, and every total
          and every link of the chain holds. It ends at <code className="font-mono text-xs break-all">{head}</code>.
        </p>
      ) : (
        <p className="mt-1 wrap-anywhere">
          {wrong} Found after {journals.toLocaleString("en")} journals. Pay nothing out of this book until you know why.
        </p>
      )}
    </div>
  );
}
