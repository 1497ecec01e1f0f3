// Passkeys: which devices sign a person in by themselves, and adding one.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.ts";
import { addPasskey, knowsPasskeys } from "../../api/passkey.ts";
import { personApi, useSession } from "../../api/session.ts";
import type { Schema } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/face.tsx";
import { Form, Submit, TextField, needed } from "../../ui/form.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";
import { Recovery, RecoveryCodes } from "./recovery.tsx";

type Passkey = Schema<"Passkey">;

const fresh = ["/v1/session", "/v1/person/passkeys"];

export function Page() {
  const list = useQuery(personApi.read("/v1/person/passkeys"));
  const person = useSession()?.person;
  const [codes, setCodes] = useState<readonly string[] | undefined>(undefined);
  const [leaving, setLeaving] = useState<Passkey | undefined>(undefined);
  const remove = useAction(
    (passkey: Passkey) =>
      personApi.write("DELETE", "/v1/person/passkeys/{passkey_id}", { path: { passkey_id: passkey.passkey_id } }),
    { refresh: fresh, done: () => say("The passkey is removed.") },
  );
  const columns: Column<Passkey>[] = [
    { head: "Name", cell: ({ name }) => <span className="font-medium">{name}</span> },
    { head: "Where", from: "wide", cell: ({ synced }) => (synced ? "All devices of your account" : "One device") },
    { head: "Added", from: "full", cell: ({ created_at }) => <Time at={created_at} shape="day" /> },
    { head: "Last used", cell: ({ used_at }) => (used_at === null ? "never" : <Time at={used_at} shape="minute" />) },
    {
      head: "Action",
      align: "right",
      cell: (passkey) => (
        <Button look="quiet" label={`Remove ${passkey.name}`} onClick={() => setLeaving(passkey)}>
          Remove
        </Button>
      ),
    },
  ];
  return (
    <Frame
      title="Passkeys"
      lead="A passkey signs you in with your fingerprint, your face or a security key: nothing to type, and nothing that can be stolen from this service."
    >
      <div className="space-y-3">
        {remove.error && <ErrorNote error={remove.error} />}
        <Table
          label="Passkeys"
          list={list}
          columns={columns}
          id={({ passkey_id }) => passkey_id}
          empty={<Empty title="No passkeys yet">Add this device or a security key below.</Empty>}
        />
      </div>
      <Section title="Add a passkey">
        {knowsPasskeys() ? (
          <Add />
        ) : (
          <p className="text-muted">This browser does not support passkeys at this address.</p>
        )}
      </Section>
      {codes && <RecoveryCodes codes={codes} />}
      {/* Who has a password and a passkey alone is asked for either at the sign-in. */}
      {person?.has_password && person.passkeys > 0 && <Recovery person={person} onCodes={setCodes} />}
      <Confirm
        open={leaving !== undefined}
        onClose={() => setLeaving(undefined)}
        title={`Remove ${leaving?.name ?? ""}?`}
        verb="Remove it"
        onConfirm={async () => {
          if (!leaving) return;
          // The proof that may be asked for has a dialog of its own: this one makes room for it.
          setLeaving(undefined);
          await remove.run(leaving);
        }}
      >
        <p>It can no longer sign anyone in. Remove it from the device too: it stays there until you do.</p>
        {person?.passkeys === 1 && !person.has_authenticator && (
          <p>After that, your password alone signs you in, and your recovery codes stop working.</p>
        )}
      </Confirm>
    </Frame>
  );
}

function Add() {
  const [added, setAdded] = useState(0);
  const add = useAction(({ name = "" }: Record<string, string>) => addPasskey(name.trim()), {
    refresh: fresh,
    done({ name }) {
      setAdded((before) => before + 1);
      say(`You can now sign in with ${name}.`);
    },
  });
  return (
    <div className="max-w-md">
      <Form key={added} values={{ name: deviceName() }} action={add} onSubmit={(values) => add.run(values)}>
        <TextField
          name="name"
          label="What you call it"
          hint="So that you recognize it later."
          check={needed("A name")}
        />
        <Submit>Add a passkey</Submit>
      </Form>
    </div>
  );
}

/** A guess, to be changed. */
function deviceName(): string {
  const { userAgent } = navigator;
  const names = { iPhone: "iPhone", iPad: "iPad", Android: "Android phone", Macintosh: "Mac", Windows: "Windows PC" };
  return Object.entries(names).find(([mark]) => userAgent.includes(mark))?.[1] ?? "This device";
}
