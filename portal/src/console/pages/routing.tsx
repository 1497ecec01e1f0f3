// Routing: the rules as a table, what they would have made of past payments, their versions, and the tests that run.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { refresh } from "../../api/action.ts";
import { ApiError } from "../../api/error.ts";
import { useQueryText, useSetQuery } from "../../address.ts";
import { Answer } from "../../ui/answer.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { typedMark } from "../../ui/typed.ts";
import { type Schema, read, write } from "../api/client.ts";
import { useMay } from "../api/rights.ts";
import { type Fault, type Row, ruleOf, rowOf } from "./routing/draft.ts";
import { Editor } from "./routing/editor.tsx";
import { SplitTests } from "./routing/split-tests.tsx";
import { Versions, showDecided } from "./routing/versions.tsx";
import { WhatIf } from "./routing/what-if.tsx";

export function Page() {
  const acquirers = useQuery(read("/v1/acquirers"));
  return (
    <Frame
      title="Routing"
      lead="Which acquirer takes a payment. Each change is a new version: try it on past payments, let it decide, and roll it back if you must."
      curl={{ path: "/v1/routing/rules" }}
    >
      <Answer of={acquirers}>
        {({ data }) => (
          <Rules codes={data.map(({ gateway_code: code }) => code)} active={data[0]?.rules_version ?? 1} />
        )}
      </Answer>
    </Frame>
  );
}

function Rules({ codes, active }: { codes: readonly string[]; active: number }) {
  const mayChange = useMay()("admin");
  const queries = useQueryClient();
  const setQuery = useSetQuery();
  const { tab: _, ...others } = useQueryText();
  // The version that the draft began with, where it is not simply the one that decides; and what was typed since.
  const [from, setFrom] = useState<number | undefined>(undefined);
  const [edited, setEdited] = useState<Row[] | undefined>(undefined);
  const shown = from ?? active;
  const source = useQuery(read("/v1/routing/rules/{version}", { path: { version: String(shown) } }));
  const first = useMemo(() => source.data?.rules.map(rowOf), [source.data]);
  const rows = edited ?? first;
  const edit = (version: number): void => {
    setEdited(undefined);
    setFrom(version === active ? undefined : version);
    setQuery({ ...others, tab: undefined });
  };
  return (
    <Tabs
      label="Views of the routing"
      tabs={{
        rules: {
          label: "Rules",
          content: () => (
            <Answer of={source}>
              {() =>
                rows && (
                  <Draft
                    rows={rows}
                    isChanged={edited !== undefined || shown !== active}
                    of={shown}
                    active={active}
                    codes={codes}
                    mayChange={mayChange}
                    onChange={(changed) => {
                      setEdited(changed);
                      setFrom(shown); // whatever others activate meanwhile
                    }}
                    onDrop={() => edit(active)}
                    onDone={async () => {
                      await refresh(queries);
                      setEdited(undefined);
                      setFrom(undefined);
                    }}
                  />
                )
              }
            </Answer>
          ),
        },
        versions: {
          label: "Versions",
          content: () => <Versions active={active} mayChange={mayChange} onEdit={edit} />,
        },
        tests: { label: "Split tests", content: () => <SplitTests /> },
      }}
    />
  );
}

interface DraftProps {
  rows: Row[];
  isChanged: boolean;
  /** The version that it began with. */
  of: number;
  active: number;
  codes: readonly string[];
  mayChange: boolean;
  onChange: (rows: Row[]) => void;
  onDrop: () => void;
  onDone: () => Promise<void>;
}

const CALM_MS = 300;

function Draft({ rows, isChanged, of, active, codes, mayChange, onChange, onDrop, onDone }: DraftProps) {
  const [deciding, setDeciding] = useState(false);
  const [note, setNote] = useState("");
  const text = JSON.stringify(rows.map(ruleOf));
  const faults = useFaults(text);
  const rules = JSON.parse(text) as object[];
  const general = faults?.filter(({ rule }) => rule === null) ?? [];
  const isValid = faults?.length === 0;
  const queries = useQueryClient();
  const activate = async (): Promise<void> => {
    // The page asks for what decides when it is opened or looked at again: another operator may have shifted traffic since.
    const { data } = await queries.fetchQuery({ ...read("/v1/acquirers"), staleTime: 0 });
    const now = data[0]?.rules_version ?? active;
    if (now !== active) {
      const message = `Version ${now} decides since a moment ago, and these rules would take its place. Read it under Versions first.`;
      throw new ApiError({ code: "RULES_CHANGED", status: 409, message });
    }
    const body = { rules: rules as Schema<"RoutingRule">[], ...(note.trim() === "" ? {} : { note: note.trim() }) };
    const { version } = await write("POST", "/v1/routing/rules", { body });
    showDecided(await write("POST", "/v1/routing/rules/{version}/activate", { path: { version: String(version) } }));
    await onDone();
  };
  return (
    <>
      <div className="flex flex-wrap items-center gap-3" {...typedMark(isChanged)}>
        <p role="status" className={isChanged ? "text-warn" : "text-muted"}>
          {isChanged ? `A draft based on version ${of}. Version ${active} decides.` : `Version ${of} decides.`}
          {faults !== undefined && faults.length > 0 && ` ${faults.length} to fix.`}
        </p>
        {mayChange && (
          <div className="ml-auto flex gap-2">
            {isChanged && <Button onClick={onDrop}>Drop the draft</Button>}
            <Button look="primary" disabled={!isChanged || !isValid} onClick={() => setDeciding(true)}>
              Let it decide…
            </Button>
          </div>
        )}
      </div>
      {general.map(({ message }) => (
        <p key={message} role="alert" className="text-bad">
          {message}
        </p>
      ))}
      <Editor rows={rows} onChange={onChange} faults={faults ?? []} codes={codes} disabled={!mayChange} />
      <WhatIf rules={rules} isValid={isValid} />
      <Confirm
        open={deciding}
        onClose={() => setDeciding(false)}
        title="Let these rules decide?"
        verb="Store and activate"
        look="primary"
        onConfirm={activate}
      >
        <p>
          They are stored as a new version and route every payment from now on, in every process within a second.
          Version {active} stays in the list; you can roll back to it.
        </p>
        <label className="block" {...typedMark(note !== "")}>
          <span className="mb-1 block font-medium">Reason, for whoever reads it later</span>
          <input className="field" value={note} maxLength={200} onChange={(event) => setNote(event.target.value)} />
        </label>
      </Confirm>
    </>
  );
}

/** What the service finds wrong with the rules as they are typed; undefined until it has looked at them. */
function useFaults(text: string): readonly Fault[] | undefined {
  const [found, setFound] = useState<{ text: string; faults: readonly Fault[] } | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    const timer = setTimeout(() => {
      write("POST", "/v1/routing/rules/validate", { body: { rules: JSON.parse(text) as object[] } }).then(
        ({ faults }) => !isOver && setFound({ text, faults }),
        // Without an answer nothing can be stored; storing says why.
        () =>
          !isOver &&
          setFound({ text, faults: [{ rule: null, field: null, message: "The rules could not be checked." }] }),
      );
    }, CALM_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
  // While somebody types, what was wrong before stays at its cell; only a fresh answer says that all is well.
  return found && (found.text === text || found.faults.length > 0) ? found.faults : undefined;
}
