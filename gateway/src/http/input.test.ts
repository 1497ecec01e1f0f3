// Goal: what an endpoint does not take is refused, never lost without a word. Method: bodies of endpoints with and without rules.
import { expect, test } from "vitest";
import { z } from "zod";
import { judgeFields } from "./fields.ts";
import { bodyOf, judgeInput } from "./input.ts";

const noted = z.strictObject({ note: z.string().optional() });

test.each<[what: string, sent: string, rules: typeof noted | undefined, outcome: string]>([
  ["nothing, where nothing is taken", "", undefined, "taken"],
  ["an empty object, where nothing is taken", "{}", undefined, "taken"],
  ["a reason, where nothing is taken", '{"reason":"by mistake"}', undefined, "VALIDATION_ERROR reason"],
  ["no JSON, where nothing is taken", "reason=mistake", undefined, "MALFORMED_JSON"],
  ["nothing, where all is optional", "", noted, "taken"],
  ["a note, where it is optional", '{"note":"x"}', noted, "taken"],
  ["a reason, where a note is taken", '{"reason":"x"}', noted, "VALIDATION_ERROR reason"],
])("%s", (_, sent, body, expected) => {
  const outcome = (): string => {
    try {
      judgeInput({ body }, bodyOf(Buffer.from(sent), body), {});
      return "taken";
    } catch (error) {
      const { code, extras } = error as { code: string; extras: { details?: { field?: string } } };
      return [code, extras.details?.field].filter((part) => part !== undefined).join(" ");
    }
  };
  expect(outcome()).toBe(expected);
});

test("of thousands of unknown fields one is put into words: the first in the order of the rules", () => {
  let worded = 0;
  const rules = { schema: noted, order: ["note"], faultFor: (): undefined => void worded++ };
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`field${at}`, at]));
  const faultOf = (input: unknown) => {
    const found = judgeFields(rules, input);
    return "fault" in found ? found.fault.extras.details?.field : undefined;
  };
  expect(faultOf({ ...many, note: 1 })).toBe("note");
  expect(faultOf(many)).toBe("field0");
  expect(worded).toBe(2);
});
