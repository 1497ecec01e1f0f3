// Goal: no name of a file does anything but name it. Method: names that try, and by property any text at all.
import fc from "fast-check";
import { expect, test } from "vitest";
import { attachmentHeaders } from "./attachment.ts";

const disposition = (name: string): string =>
  attachmentHeaders({ name, bytes: Buffer.alloc(0) })["content-disposition"] ?? "";

test.each([
  ["receipt 1.pdf", "receipt 1.pdf", "receipt%201.pdf"],
  ["kwitansi-🧾.pdf", "kwitansi-__.pdf", "kwitansi-%F0%9F%A7%BE.pdf"],
  ['a".html"; filename="b', "a_.html__ filename__b", "a_.html_%3B%20filename%3D_b"],
  ["../../etc/passwd", "__.._etc_passwd", "__.._etc_passwd"],
  ["C:\\autoexec.bat", "C__autoexec.bat", "C__autoexec.bat"],
  ["a\r\nset-cookie: b=c", "a__set-cookie_ b_c", "a__set-cookie_%20b%3Dc"],
  // Written from right to left it would read "exe.pdf".
  ["\u202Efdp.exe", "_fdp.exe", "_fdp.exe"],
  ["it's (1)*.txt", "it_s _1__.txt", "it%27s%20%281%29_.txt"],
])("%j is saved under its own name, made harmless", (name, ascii, encoded) => {
  expect(disposition(name)).toBe(`attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`);
});

test("property: any text gives one well-formed header, and its name comes back but for what was made harmless", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 }), (name) => {
      const parts = /^attachment; filename="([\w.\- ]+)"; filename\*=UTF-8''([\w.\-%!~]+)$/.exec(disposition(name));
      const saved = decodeURIComponent(parts?.[2] ?? "");
      expect(saved).not.toMatch(/[/\\"\p{Cc}\p{Cf}]|^\./u);
      expect([...saved]).toHaveLength([...name.replace(/^\.+/, "_")].length);
    }),
  );
});
