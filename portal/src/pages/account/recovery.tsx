// Recovery codes: how many are left, making new ones, and the new ones, shown this once.
import { useAction } from "../../api/action.ts";
import { type Person, personApi } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { save } from "../../ui/download.ts";
import { ErrorNote } from "../../ui/face.tsx";
import { Once } from "../../ui/once.tsx";
import { Section } from "../../ui/page.tsx";

export function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const text = `${codes.join("\n")}\n`;
  return (
    <Once>
      <section aria-label="Your recovery codes" className="max-w-xl rounded-md border border-warn/60 bg-panel p-5">
        <h2 className="text-base font-semibold">Keep these recovery codes</h2>
        <p className="mt-1 text-muted">
          They are shown only once. If you lose your phone or passkey, each code signs you in once, together with your
          password. Keep them with your papers, not on the phone.
        </p>
        <ol className="my-4 grid grid-cols-1 gap-x-8 gap-y-1 font-mono sm:grid-cols-2">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
        <div className="flex items-center gap-2">
          <Button onClick={() => save(new Blob([text], { type: "text/plain" }), "gerbang-recovery-codes.txt")}>
            Save as a file
          </Button>
          <Copy text={text} what="the recovery codes" />
        </div>
      </section>
    </Once>
  );
}

interface Props {
  person: Person;
  onCodes: (codes: readonly string[]) => void;
}

export function Recovery({ person: { recovery_codes_left: left }, onCodes }: Props) {
  const renew = useAction(() => personApi.write("POST", "/v1/person/recovery-codes", {}), {
    refresh: ["/v1/session"],
    done: ({ recovery_codes }) => onCodes(recovery_codes),
  });
  return (
    <Section title="Recovery codes">
      <p className="mb-3 max-w-xl">
        {left === 0 ? "You have none." : `${left} of them ${left === 1 ? "is" : "are"} left.`} Each replaces your phone
        or passkey once, together with your password. New codes replace all existing ones.
      </p>
      <Button pending={renew.pending} onClick={() => renew.run(undefined)}>
        Make new recovery codes
      </Button>
      {renew.error && (
        <div className="mt-3 max-w-xl">
          <ErrorNote error={renew.error} />
        </div>
      )}
    </Section>
  );
}
