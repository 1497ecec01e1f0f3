// Signing in: by password and code, by a passkey, or by a link. Afterwards the address that was asked for.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { useState } from "react";
import { searchOf, useQueryText } from "../address.ts";
import { type Action, useAction } from "../api/action.ts";
import { type SessionView, beginSession, personApi, sessionQuery } from "../api/session.ts";
import { paths } from "../paths.ts";
import { Guest, useFragment } from "../shell/guest.tsx";
import { ErrorFace } from "../ui/face.tsx";
import { ByPassword } from "./sign-in/by-password.tsx";
import { Welcome } from "./sign-in/welcome.tsx";

export function Page() {
  const queries = useQueryClient();
  const session = useQuery({ ...sessionQuery, staleTime: 60_000 });
  // Who came by a link and has nothing else to sign in by is told so before they go on.
  const [welcomed, setWelcomed] = useState<SessionView | undefined>(undefined);
  const link = useAction((token: string) => personApi.write("POST", "/v1/session/link", { body: { token } }), {
    refresh: [],
    done(begun) {
      if (!begun.person.has_password && begun.person.passkeys === 0) setWelcomed(begun);
      beginSession(queries, begun);
    },
  });
  useFragment((text) => {
    const token = new URLSearchParams(text).get("link");
    if (token) void link.run(token);
  });
  const next = useNext();
  if (welcomed) return <Welcome session={welcomed} next={next} />;
  if (link.pending) return <Guest title="Signing you in …">{null}</Guest>;
  // What is known of a session that has ended stays in the cache, beside the refusal.
  if (session.isSuccess && !link.error) return <Onward to={next} />;
  return (
    <Guest title="Sign in">
      {link.error && <LinkFailed link={link} />}
      <ByPassword
        onBegun={(begun) => {
          link.reset();
          beginSession(queries, begun);
        }}
      />
      <ByName />
    </Guest>
  );
}

/** Where to go afterwards: an address within the pages, and nowhere else. */
function useNext(): string {
  const { next = "/" } = useQueryText();
  return /^\/(?![/\\])/.test(next) ? next : paths.start();
}

function Onward({ to }: { to: string }) {
  const [path, query] = to.split("?");
  return <Navigate to={path ?? "/"} search={searchOf(query)} replace />;
}

/** The way to the same page by name, where it is open by a number of this machine: the service's links sign in by name, and a browser keeps the two apart. */
function ByName() {
  const { hostname, href } = location;
  if (!/^(127\.[\d.]+|\[::1\])$/.test(hostname)) return null;
  const byName = new URL(href);
  byName.hostname = "localhost";
  return (
    <p className="text-xs text-muted">
      This page is open at {hostname}. Links and passkeys of this service sign in at{" "}
      <a className="link" href={byName.href}>
        localhost
      </a>
      , and whoever is signed in there is not signed in here.
    </p>
  );
}

function LinkFailed({ link: { error } }: { link: Action<string, SessionView> }) {
  if (!error) return null;
  return error.status === 401 ? (
    <p role="alert" className="rounded border border-warn/50 px-3 py-2">
      {error.message}
    </p>
  ) : (
    <ErrorFace error={error} />
  );
}
