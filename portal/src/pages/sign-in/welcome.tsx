// After a link, for who has neither password nor passkey: they are in, and should know how to come back.
import type { SessionView } from "../../api/session.ts";
import { paths, withSearch } from "../../paths.ts";
import { Guest } from "../../shell/guest.tsx";
import { ButtonLink } from "../../ui/button.tsx";

export function Welcome({ session: { person, memberships }, next }: { session: SessionView; next: string }) {
  const [first] = memberships;
  return (
    <Guest title={`Welcome, ${person.name}`} lead={`You are signed in as ${person.email}.`}>
      <div className="flex flex-col">
        <ButtonLink look="primary" to={next}>
          {first ? `Go to ${first.merchant_name}` : "Go to the pages"}
        </ButtonLink>
      </div>
      <div className="border-t border-line pt-5">
        <p className="text-muted">
          This link is now used up. Set a password or a passkey to sign in without a new link next time. You can also do
          it later, under Your account.
        </p>
        <div className="mt-3 flex flex-wrap gap-2">
          <ButtonLink to={withSearch(paths.accountPassword(), { next })}>Choose a password</ButtonLink>
          <ButtonLink to={withSearch(paths.accountPasskeys(), { next })}>Add a passkey</ButtonLink>
        </div>
      </div>
    </Guest>
  );
}
