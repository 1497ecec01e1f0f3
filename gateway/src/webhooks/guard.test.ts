// Goal: no webhook goes to an address that is not public. Method: a table of every spelling known to have fooled someone.
import fc from "fast-check";
import { expect, test } from "vitest";
import { exemptionsOf } from "./exemptions.ts";
import { isPublicAddress, objectionTo, vet } from "./guard.ts";

const none = exemptionsOf([]);

test("addresses that are not public are refused in every spelling", () => {
  const refused = [
    "0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255",
    "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::10.0.0.1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:0:127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::a00:1",
    "64:ff9b:1::1", "100::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "2001::1", "2001:db8::1", "2001:10::1",
    "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "fe80::1%eth0", "4000::1", "not an address", "",
  ]; // prettier-ignore
  for (const address of refused) expect(isPublicAddress(address), address).toBe(false);
});

test("public addresses pass", () => {
  for (const address of [
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "2606:4700::1111",
    "2a00:1450::1",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
  ]) {
    expect(isPublicAddress(address), address).toBe(true);
  }
});

test("an embedded IPv4 address is judged as what it is, in every IPv6 wrapping", () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
      expect(isPublicAddress(`64:ff9b::${hex}`)).toBe(isPublicAddress(address));
      expect(isPublicAddress(`2002:${hex}::1`)).toBe(isPublicAddress(address));
      expect(isPublicAddress(`::ffff:${hex}`)).toBe(false); // mapped addresses have no business in a URL
    }),
  );
});

test("URLs: only https to public hosts, without credentials, and nothing that has to be repaired first", () => {
  const refused = [
    "http://example.com/", "ftp://example.com/", "//example.com", "example.com", "", "https://", "https:example.com", "https:///example.com",
    "https://user@example.com/", "https://user:pass@example.com/", "https://@example.com/", "https://:@example.com/", "https://localhost/", "https://localhost./", "https://printer/",
    "https://db.internal/", "https://x.local/", "https://foo.test/", "https://a.localhost/", "https://x.onion/",
    "https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://017700000001/", "https://0/",
    "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://10.0.0.1:8443/x", "https://169.254.169.254/latest",
    "https://exa mple.com/", "https://example.com/\n", "\thttps://example.com/", "https:\\\\example.com\\", `https://example.com/${"x".repeat(2048)}`,
    "https://１２７.0.0.1/", "https://example.com:99999/",
    "https://127.0.0.1./", "https://0300.0250.0.1/", "https://①②⑦.0.0.1/", "https://loc%61lhost/", "https://localhost。/", "https://localhost../",
    "https://db.internal../", "https://.example.com/", "https://a..example.com/", "https://metadata.google.internal./", "https://x.test./",
    "https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/", "https://[64:ff9b:1::a00:1]/", "https://[::ffff:0:a00:1]/", "https://168.63.129.16/",
  ]; // prettier-ignore
  for (const url of refused) expect(objectionTo(url, none), url).toBeTypeOf("string");
  // Whoever tries a receiver on this machine reads which setting allows it.
  expect(objectionTo("https://localhost/hook", none)).toContain("WEBHOOK_ALLOW_HOSTS");
  for (const url of [
    "https://example.com/hook",
    "https://EXAMPLE.com:8443/a?b=c",
    "https://1.1.1.1/x",
    "https://[2606:4700::1111]/",
  ]) {
    expect(objectionTo(url, none), url).toBeUndefined();
  }
});

test("development's exemption names hosts exactly, and https stays", () => {
  const allowed = exemptionsOf(["localhost"]);
  expect(objectionTo("https://localhost:4443/hook", allowed)).toBeUndefined();
  expect(objectionTo("http://localhost:4443/hook", allowed)).toBeTypeOf("string");
  expect(objectionTo("https://evil.localhost/hook", allowed)).toBeTypeOf("string");
  expect(objectionTo("https://127.0.0.1/hook", allowed)).toBeTypeOf("string");
});

test("a name that leads to the machine itself is refused when it is looked up", async () => {
  await expect(vet("localhost", none)).rejects.toThrow(/not a public name/);
  await expect(vet("127.0.0.1", none)).rejects.toThrow(/leads to an address that is not public$/);
  await expect(vet("1.1.1.1", none)).resolves.toEqual([{ address: "1.1.1.1", family: 4 }]);
});

const named = exemptionsOf([], ["10.1.0.0/16", "fd12:3456::/48"]);

test("networks that the operator names count as public; everything else stays as it was", () => {
  for (const url of ["https://10.1.2.3/hook", "https://[fd12:3456::7]:8443/", "https://1.1.1.1/", "https://shop.com/"])
    expect(objectionTo(url, named), url).toBeUndefined();
  const refused = [
    "http://10.1.2.3/", "https://10.2.0.1/", "https://[::ffff:10.1.2.3]/", "https://[::ffff:a01:203]/", "https://[64:ff9b::a01:203]/",
    "https://[2002:a01:203::]/", "https://[::10.1.2.3]/", "https://169.254.169.254/", "https://127.0.0.1/", "https://[::1]/",
    "https://user:pass@10.1.2.3/", "https://localhost/", "https://a.localhost/", "https://x.onion/", "https://[fd12:3457::7]/",
  ]; // prettier-ignore
  for (const url of refused) expect(objectionTo(url, named), url).toBeTypeOf("string");
});

test("names of private use are looked up where networks are named, and nowhere else", () => {
  for (const url of ["https://hooks.shop.internal/", "https://shop/", "https://shop.svc.cluster.local/"]) {
    expect(objectionTo(url, named), url).toBeUndefined();
    expect(objectionTo(url, none), url).toBeTypeOf("string");
  }
});
