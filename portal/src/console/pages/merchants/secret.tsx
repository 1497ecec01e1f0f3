// A secret with its name, seen whole.
import { Code } from "../../../ui/code.tsx";

export function Secret({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <p className="mb-1 font-medium">{label}</p>
      <Code text={text} what={label.toLowerCase()} wrap />
    </div>
  );
}
