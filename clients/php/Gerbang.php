<?php
// The client of the Gerbang payment API for PHP 8.0 and later: one file, no extension beyond what php-cli has by default (json, hash, openssl).
//
//     require 'Gerbang.php';
//     $gerbang = new Gerbang\Client();  // GERBANG_CLIENT_ID, GERBANG_SECRET, GERBANG_BASE_URL
//     $payment = $gerbang->payments->create([
//         'amount_minor' => 7500000, 'currency' => 'IDR', 'payment_method' => 'qris', 'reference_id' => 'order-1001',
//     ]);
//
// Fields are named as in the API, answers are arrays, and every error is a GerbangException. Each call is signed anew for every attempt and
// keeps one idempotency key. README.md says more.

declare(strict_types=1);

namespace Gerbang;

const VERSION = '0.1.0';
// An answer is one object, unless it is a list or a statement: a hundred payments with all that a merchant may write to them have some megabytes.
const ANSWER_MAX_BYTES = 1_048_576;
const LIST_MAX_BYTES = 10_000_000;
// Values take many times the memory of their text. A page of a list has some thousand.
const VALUES_MAX = 50_000;
const LEVELS_MAX = 64;
const MESSAGE_MAX = 1_000;
const ATTEMPTS_MAX = 5;
const WINDOW_SECONDS = 300;
// Timestamps of the interface's own scheme are moved by so much at most: the clocks may differ by the rest of the window.
const SPREAD_SECONDS = 240;
// A clock that is further off is not corrected by an answer.
const CORRECTION_MAX_SECONDS = 86_400;
// What a lookup has at least, where less is left of the deadline.
const LOOKUP_MIN_SECONDS = 2.0;
// A copy of an event waits for the one before it, well within the ten seconds that an answer may take.
const CLAIM_ASK_EVERY_SECONDS = 0.25;
const CLAIM_WAIT_MAX_SECONDS = 5;

/**
 * What went wrong: an error of the API with its `code`, or one of the way to it.
 *
 * `status` is the HTTP status and null where no answer came, `requestId` names the request for support, `retryable` says whether the same call
 * with the same idempotency key may succeed later, `advice` says what to do. `outcomeUnknown`: a write may have been done, though nobody said
 * so; never take it for failed. `idempotencyKey` is the key that the call carried, `attempts` is how often it was sent.
 */
class GerbangException extends \RuntimeException
{
    private const ADVICE = [
        'UNAUTHORIZED' => 'Check client_id.',
        'CLIENT_NOT_FOUND' => 'Check the pair of client_id and secret, and that it was not replaced.',
        'SIGNATURE_INVALID' => 'Check that the secret belongs to this client_id, and that base_url is the address the service knows itself by. In the sandbox, sandbox->requests->doctor($requestId) says what differs.',
        'TIMESTAMP_OUT_OF_WINDOW' => "Synchronise this machine's clock.",
        'SIGNATURE_REPLAYED' => 'Something between here and the service sends requests twice: a write may have been done. Repeat it with the same idempotencyKey.',
        'FORBIDDEN' => 'Use a credential that has the scope, from an address that it allows.',
        'ENVIRONMENT_MISMATCH' => 'Use the key of the environment that the object is in.',
        'MERCHANT_SUSPENDED' => 'Contact support.',
        'VALIDATION_ERROR' => 'Correct the field in details.field.',
        'INVALID_AMOUNT' => 'Send whole minor units within your limit, as an int.',
        'CURRENCY_NOT_SUPPORTED' => 'Use an enabled currency, or ask for this one.',
        'PAYMENT_METHOD_UNAVAILABLE' => 'Offer the payer another method.',
        'REFERENCE_ID_DUPLICATE' => 'details.reference is that payment: read it, or use a new reference_id.',
        'IDEMPOTENCY_KEY_INVALID' => 'Leave the key out: the client makes one.',
        'IDEMPOTENCY_CONFLICT' => 'Use a new key for a new intent.',
        'IDEMPOTENCY_IN_PROGRESS' => 'Ask again later with the same idempotency_key.',
        'PAYMENT_NOT_CANCELABLE' => 'Read its status; refund it when it was paid.',
        'PAYMENT_NOT_REFUNDABLE' => 'Read its status, and wait for the payment or for the end of the dispute.',
        'REFUND_EXCEEDS_PAYMENT' => 'Refund no more than details.remaining_refundable_minor.',
        'PAYMENT_EXPIRED' => 'Create a new payment with a new reference_id.',
        'DISPUTE_LOCKED' => 'Wait until the dispute is decided, or until more payments come in.',
        'INSUFFICIENT_FUNDS' => 'Refund less, or wait until more payments come in, and then use a new idempotency_key.',
        'GATEWAY_TIMEOUT' => 'The outcome is open: do not take it for a failure. Repeat with the same idempotency_key, or wait for the webhook.',
        'RISK_REJECTED' => 'Ask the payer for another way to pay.',
        'RISK_REVIEW' => 'The payment exists and is pending (details.reference). Wait for the webhook, and do not create it again.',
        'RATE_LIMITED' => 'Make fewer calls a minute.',
        'CONNECTION_FAILED' => 'The outcome of a write is open: repeat with the same idempotency_key, or look the object up.',
        'TIMED_OUT' => 'The outcome of a write is open: repeat with the same idempotency_key, or look the object up.',
        'ANSWER_UNREADABLE' => 'Something between here and the service answered in its place, or cut the answer. The outcome of a write is open.',
        'ANSWER_TOO_LARGE' => 'Something between here and the service answered in its place. The outcome of a write is open.',
        'STATE_NOT_REACHED' => 'Read details.status. Unless it is final, go on by webhook, or wait longer.',
        'REDIRECTED' => 'Set base_url to where the API is: redirects are not followed, since the address is signed.',
    ];

    private const AGAIN = 'Try again later with the same idempotency_key.';

    /** Of a read, which changes nothing and has no key. */
    private const ADVICE_OF_READ = [
        'CONNECTION_FAILED' => 'Nothing was changed. Try again.',
        'TIMED_OUT' => 'Nothing was changed. Try again.',
        'ANSWER_UNREADABLE' => 'Something between here and the service answered in its place, or cut the answer. Nothing was changed.',
        'ANSWER_TOO_LARGE' => 'Something between here and the service answered in its place. Nothing was changed.',
        'SIGNATURE_REPLAYED' => 'Something between here and the service sends requests twice.',
    ];

    /** Of a page with a status of refusal: what gave it did not pass the call on. */
    private const ADVICE_OF_FOREIGN_REFUSAL = "Something in the service's place refused the call, such as a proxy. Check base_url.";

    /** @var string the code of the API, and what getCode() gives */
    public $code;
    public string $advice;
    public bool $outcomeUnknown = false;
    public ?string $idempotencyKey = null;
    public int $attempts = 0;
    /** @internal what the answer said about when to come again, and its clock */
    public ?int $retryAfter = null;
    /** @internal */
    public ?string $date = null;

    public function __construct(
        string $code,
        string $message,
        public ?int $status = null,
        public ?string $requestId = null,
        public array $details = [],
        public bool $retryable = false,
        ?string $advice = null,
    ) {
        parent::__construct($message);
        $this->code = $code;
        $default = $retryable ? self::AGAIN : 'See the errors in the docs of your service, at /docs/errors.';
        $this->advice = $advice ?? self::ADVICE[$code] ?? $default;
    }

    /** The error of a call that reads, with the advice for one. @internal */
    public function ofRead(): static
    {
        $this->advice = self::ADVICE_OF_READ[$this->code] ?? ($this->advice === self::AGAIN ? 'Try again later.' : $this->advice);
        return $this;
    }

    /** The outcome after this attempt: the key, how often the call was sent, whether a write may have been done. @internal */
    public function after(?string $key, int $attempts, bool $unknown): void
    {
        [$this->idempotencyKey, $this->attempts, $this->outcomeUnknown] = [$key, $attempts, $unknown];
        if ($key === null) {
            $this->ofRead();
        }
        if ($this->code === 'ANSWER_UNREADABLE' && !$unknown && $this->status >= 400 && $this->status < 500) {
            $this->advice = self::ADVICE_OF_FOREIGN_REFUSAL;
        }
    }

    /** Whether an attempt leaves open whether a write was done. @internal */
    public function opens(): bool
    {
        if (in_array($this->code, ['CONNECTION_FAILED', 'TIMED_OUT', 'ANSWER_TOO_LARGE', 'IDEMPOTENCY_IN_PROGRESS', 'SIGNATURE_REPLAYED'], true)) {
            return true;
        }
        $undone = in_array($this->code, ['GATEWAY_ERROR', 'NO_ROUTE_AVAILABLE'], true);
        return ($this->status >= 500 && !$undone) || ($this->code === 'ANSWER_UNREADABLE' && $this->status < 300);
    }

    /** Whether the answer says what became of the key, also of an attempt before. Other refusals are of answers from before it is read. @internal */
    public function closes(): bool
    {
        $stored = in_array($this->code, ['WALLET_FROZEN', 'ENVIRONMENT_MISMATCH'], true); // though their status is 403
        $isBefore = in_array($this->code, ['ANSWER_UNREADABLE', 'ROUTE_NOT_FOUND'], true);
        return $stored || !$isBefore && in_array($this->status, [202, 404, 409, 422], true);
    }
}

/** Somebody else handles the event just now: answer 503, and nothing is lost. It comes again. */
class EventBusyException extends GerbangException
{
    public function __construct()
    {
        parent::__construct('event_busy', 'Another process handles this event just now.', advice: 'Answer 503: it comes again.');
    }
}

/** A delivery that does not verify. `step` is the step that failed; answer 401 and do nothing else. */
class WebhookException extends GerbangException
{
    public function __construct(public string $step, string $message)
    {
        parent::__construct($step, $message, advice: 'Answer 401, and do nothing else with the delivery.');
    }
}

/** What the API would refuse: the same codes and words, before anything is sent. Only rules that never change with the merchant. */
final class Rules
{
    private const METHODS = ['qris', 'va', 'card', 'ewallet', 'bank_transfer'];

    /** The fields of a body in the order in which their errors prevail: how each is checked, and whether it is required. */
    private static function of(string $operation): array
    {
        $metadata = [self::metadata(), false];
        $returnUrl = [self::matching('~^(https://[^/?#]+|http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?)([/?#].*)?$~Ds', 'must be an https address', self::string()), false];
        return match ($operation) {
            'payment' => [
                'amount_minor' => [self::amount(), true],
                'currency' => [self::currency(), true],
                'payment_method' => [self::oneOf(self::METHODS), true],
                'reference_id' => [self::text(1, 64), true],
                'description' => [self::text(0, 255), false],
                'expires_in' => [self::whole(60, 86_400), false],
                'customer' => [self::customer(), false],
                'return_url' => $returnUrl,
                'metadata' => $metadata,
            ],
            'refund' => [
                'payment_reference' => [self::string(), true],
                'amount_minor' => [self::amount(), false],
                'reason' => [self::text(0, 255), false],
            ],
            'cancel' => ['reason' => [self::text(0, 255), false]],
            'link' => [
                'amount_minor' => [self::amount(), false],
                'currency' => [self::currency(), true],
                'description' => [self::text(0, 255), false],
                'expires_in' => [self::whole(60, 31_536_000), false],
                'payment_expires_in' => [self::whole(60, 86_400), false],
                'return_url' => $returnUrl,
                'metadata' => $metadata,
            ],
            'dispute' => ['amount_minor' => [self::amount(), false]],
            'advance' => ['seconds' => [self::whole(1, 31_622_400), true]],
            default => [],
        };
    }

    /** The body without what is null. Throws what the API would answer to the first field that breaks a rule. */
    public static function check(string $operation, array $body): array
    {
        foreach (self::of($operation) as $name => [$rule, $required]) {
            if (isset($body[$name]) || $required && $name === 'amount_minor') {
                $rule($name, $body[$name] ?? null);
            } elseif ($required) {
                throw self::invalid($name, null, 'is required');
            }
        }
        return array_filter($body, fn($value) => $value !== null);
    }

    /** An identity for a path. A malformed one names nothing, as the API would answer. */
    public static function id(string $kind, string $value): string
    {
        if (preg_match("/^{$kind}_[0-7][0-9a-hjkmnp-tv-z]{25}$/D", $value)) {
            return $value;
        }
        [$code, $message] = match ($kind) {
            'pay' => ['PAYMENT_NOT_FOUND', 'No such payment.'],
            'rfd' => ['REFUND_NOT_FOUND', 'No such refund.'],
            default => ['OBJECT_NOT_FOUND', 'No such object.'],
        };
        throw new GerbangException($code, $message, 404, advice: "Identities of this kind begin with {$kind}_.");
    }

    /** A currency for a path. */
    public static function currencyOf(string $value): string
    {
        if (!preg_match('/^[A-Z]{3}$/D', $value)) {
            $details = ['field' => 'currency', 'value' => self::shown($value)];
            throw new GerbangException('VALIDATION_ERROR', 'currency must be a currency code like IDR.', 422, details: $details);
        }
        return $value;
    }

    public static function invalid(string $field, mixed $value, string $rule): GerbangException
    {
        $field = (string) self::shown($field);
        return new GerbangException('VALIDATION_ERROR', "$field: $rule", 422, details: ['field' => $field, 'value' => self::shown($value)]);
    }

    public static function shown(mixed $value): mixed
    {
        if (is_string($value)) {
            $begin = self::cut($value, 100);
            return $begin === null ? '(bytes)' : ($begin === $value ? $value : $begin . '…');
        }
        if (is_array($value)) {
            return self::isList($value) ? '(array)' : '(object)';
        }
        return is_object($value) ? '(object)' : $value;
    }

    /** The first so many characters; null where it is no Unicode. */
    public static function cut(string $text, int $most): ?string
    {
        return preg_match("/^.{0,$most}/us", $text, $begin) ? $begin[0] : null;
    }

    private static function isList(array $value): bool
    {
        return $value === [] || array_keys($value) === range(0, count($value) - 1);
    }

    private static function string(): \Closure
    {
        return function (string $field, mixed $value): void {
            if (!is_string($value)) {
                throw self::invalid($field, $value, 'must be a string');
            }
        };
    }

    private static function text(int $least, int $most): \Closure
    {
        return function (string $field, mixed $value) use ($least, $most): void {
            self::string()($field, $value);
            $length = preg_match_all('/./us', $value);
            if ($length !== false && ($length < $least || $length > $most)) {
                throw self::invalid($field, $value, "must have $least to $most characters");
            }
            if ($length === false || str_contains($value, "\0")) {
                throw self::invalid($field, $value, 'must be Unicode text without NUL');
            }
        };
    }

    private static function matching(string $pattern, string $rule, \Closure $first): \Closure
    {
        return function (string $field, mixed $value) use ($pattern, $rule, $first): void {
            $first($field, $value);
            if (!preg_match($pattern, $value)) {
                throw self::invalid($field, $value, $rule);
            }
        };
    }

    private static function whole(int $least, int $most): \Closure
    {
        return function (string $field, mixed $value) use ($least, $most): void {
            if (!is_int($value)) {
                throw self::invalid($field, $value, 'must be a whole number');
            }
            if ($value < $least) {
                throw self::invalid($field, $value, "must be at least $least");
            }
            if ($value > $most) {
                throw self::invalid($field, $value, "must be at most $most");
            }
        };
    }

    private static function amount(): \Closure
    {
        return function (string $field, mixed $value): void {
            if (!is_int($value) || $value < 1 || $value > 9_007_199_254_740_991) {
                $message = "$field must be a positive integer within the limit for one transaction.";
                $details = ['field' => $field, 'value' => self::shown($value)];
                throw new GerbangException('INVALID_AMOUNT', $message, 422, details: $details);
            }
        };
    }

    private static function currency(): \Closure
    {
        return function (string $field, mixed $value): void {
            self::string()($field, $value);
            if (!preg_match('/^[A-Z]{3}$/D', $value)) {
                throw new GerbangException('CURRENCY_NOT_SUPPORTED', "$field: must be a code of ISO 4217, in upper case", 422);
            }
        };
    }

    private static function oneOf(array $values): \Closure
    {
        return function (string $field, mixed $value) use ($values): void {
            if (!in_array($value, $values, true)) {
                throw self::invalid($field, $value, 'must be one of "' . implode('", "', $values) . '"');
            }
        };
    }

    private static function customer(): \Closure
    {
        return function (string $field, mixed $value): void {
            if (!is_array($value) && !$value instanceof \stdClass) {
                throw self::invalid($field, $value, 'must be an object');
            }
            $value = (array) $value;
            $rules = [
                'name' => self::text(1, 120),
                'email' => self::matching('/^[^@]*@[^@]*$/Ds', 'must have exactly one @', self::text(3, 254)),
                'phone' => self::matching('/^\+[0-9]{8,15}$/D', 'must be + and 8 to 15 digits', self::string()),
            ];
            foreach ($rules as $name => $rule) {
                if (isset($value[$name])) {
                    $rule("$field.$name", $value[$name]);
                }
            }
        };
    }

    private static function metadata(): \Closure
    {
        return function (string $field, mixed $value): void {
            // A list is a mistake; whoever has names like 0 and 1 passes an object.
            if (!is_array($value) && !$value instanceof \stdClass || is_array($value) && $value !== [] && self::isList($value)) {
                throw self::invalid($field, $value, 'must be an object of texts');
            }
            $value = (array) $value;
            if (count($value) > 20) {
                throw self::invalid($field, $value, 'must have at most 20 pairs');
            }
            foreach ($value as $name => $text) {
                $length = preg_match_all('/./us', (string) $name);
                if ($length < 1 || $length > 40) {
                    throw self::invalid("$field.$name", $text, 'must have 1 to 40 characters');
                }
                self::text(0, 500)("$field.$name", $text);
            }
        };
    }
}

/** A secret that shows itself to nobody: not in a dump, a trace, a serialized value. */
final class Secret
{
    /** Outside of the object: whoever dumps it finds nothing. */
    private static ?\WeakMap $texts = null;

    public function __construct(#[\SensitiveParameter] ?string $text)
    {
        if ($text === null || $text === '') {
            throw new \InvalidArgumentException('a secret is missing');
        }
        self::$texts ??= new \WeakMap();
        self::$texts[$this] = $text;
        $text = null; // no trace of a later error has it
    }

    /** HMAC-SHA256, keyed with the whole text, as bytes. */
    public function hmac(string $signed): string
    {
        return hash_hmac('sha256', $signed, self::$texts[$this], true);
    }

    /** Keyed with the bytes behind whsec_, as Standard Webhooks has it; null where there are none. */
    public function standardHmac(string $signed): ?string
    {
        $key = str_starts_with(self::$texts[$this], 'whsec_') ? base64_decode(substr(self::$texts[$this], 6), true) : false;
        return $key === false || $key === '' ? null : hash_hmac('sha256', $signed, $key, true);
    }

    public function __serialize(): array
    {
        throw new \LogicException('a secret is not serialized');
    }

    private function __clone()
    {
    }
}

/** The machine's clock; tests put another in its place. @internal */
class Time
{
    public function now(): int
    {
        return time();
    }

    public function monotonic(): float
    {
        return hrtime(true) / 1e9;
    }

    public function sleep(float $seconds): void
    {
        // A signal ends usleep, such as those of a worker with pcntl.
        for ($until = $this->monotonic() + $seconds; ($left = $until - $this->monotonic()) > 0; ) {
            usleep((int) ceil($left * 1e6));
        }
    }
}

/** What a call takes for an answer of the API: CSV or an object, how large it may be, and whether the object is one of its kind. @internal */
final class Expected
{
    private function __construct(public int $most, private \Closure $fits, public bool $isCsv = false)
    {
    }

    /** Whatever a call may give. What is read may be a list. */
    public static function any(string $method): self
    {
        return new self($method === 'GET' ? LIST_MAX_BYTES : ANSWER_MAX_BYTES, fn() => true);
    }

    /** An object with these texts, by which an answer of something else is told apart. */
    public static function has(string ...$names): self
    {
        $isText = fn($value): bool => is_string($value) && $value !== '';
        $isThere = fn(Answer $answer): bool => array_filter($names, fn($name) => !$isText($answer->object[$name] ?? null)) === [];
        return new self(ANSWER_MAX_BYTES, $isThere);
    }

    /** An object with a field of which `$is` holds. */
    public static function with(string $name, callable $is): self
    {
        return new self(ANSWER_MAX_BYTES, fn(Answer $answer): bool => $is($answer->object[$name] ?? null));
    }

    public static function list(): self
    {
        return new self(LIST_MAX_BYTES, fn(Answer $answer): bool => self::isList($answer));
    }

    /** One that does not say whether there is more is not taken for the last. */
    public static function page(): self
    {
        return new self(LIST_MAX_BYTES, fn(Answer $answer): bool => self::isList($answer) && is_bool($answer->object['has_more'] ?? null));
    }

    private static function isList(Answer $answer): bool
    {
        // Read as objects: as arrays {} would be a list, and [] an object.
        $data = json_decode($answer->body, false, LEVELS_MAX + 1)->data ?? null;
        return is_array($data) && array_filter($data, fn($one) => !$one instanceof \stdClass) === [];
    }

    public static function csv(): self
    {
        return new self(LIST_MAX_BYTES, fn() => true, true);
    }

    public function fits(Answer $answer): bool
    {
        return ($this->fits)($answer);
    }
}

/** An answer as it came, the names of its headers in small letters. @internal */
final class Answer
{
    /** The body as an array, unless it is CSV. */
    public array $object = [];
    public int $attempts = 0;
    /** When it came, in Unix seconds. */
    public int $at = 0;

    public function __construct(public int $status, public array $headers, public string $body = '')
    {
    }

    public function header(string $name): string
    {
        return $this->headers[$name] ?? '';
    }

    public function requestId(): ?string
    {
        return self::checkedId($this->header('x-request-id'));
    }

    public static function checkedId(mixed $value): ?string
    {
        return is_string($value) && preg_match('/^[\w-]{1,80}$/D', $value) ? $value : null;
    }

    public function isCsv(): bool
    {
        return str_starts_with(strtolower($this->header('content-type')), 'text/csv');
    }

    /** The seconds that it asks to wait. A date is counted from the answer's own. */
    public function retryAfter(): ?int
    {
        $text = $this->header('retry-after');
        if (preg_match('/^[0-9]+$/D', $text)) {
            return (int) min(1e12, (float) $text); // a cast of more than an int holds gives any number
        }
        $until = self::date($text);
        return $until === null ? null : $until - (self::date($this->header('date')) ?? $this->at);
    }

    /** The Unix seconds of a date as HTTP writes it, such as Fri, 15 Jan 2027 09:00:00 GMT; null for any other text. */
    public static function date(string $text): ?int
    {
        if (!preg_match('/^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/D', $text)) {
            return null;
        }
        $form = 'D, d M Y H:i:s \G\M\T';
        $date = \DateTimeImmutable::createFromFormat($form, $text, new \DateTimeZone('UTC'));
        return $date !== false && $date->format($form) === $text ? $date->getTimestamp() : null;
    }

    /** The body as an array. Throws ANSWER_UNREADABLE, and ANSWER_TOO_LARGE. */
    public function parsed(): array
    {
        if (self::valuesIn($this->body) > VALUES_MAX) {
            $message = 'The answer has more than ' . number_format(VALUES_MAX) . ' values.';
            throw new GerbangException('ANSWER_TOO_LARGE', $message, $this->status, $this->requestId());
        }
        $value = json_decode($this->body, true, LEVELS_MAX + 1); // PHP counts what stands in them as a level, too
        if (!is_array($value) || !str_starts_with(ltrim($this->body), '{')) {
            throw $this->unreadable();
        }
        return $value;
    }

    /** How many values a JSON text has at most, without reading it. */
    private static function valuesIn(string $body): int
    {
        $count = fn(string $text): int => substr_count($text, ',') + substr_count($text, '[') + substr_count($text, '{');
        if ($count($body) <= VALUES_MAX) {
            return $count($body);
        }
        // Some may stand within texts.
        $plain = preg_replace('/"[^"]*+"/', '', str_replace(['\\\\', '\\"'], '', $body));
        return $count($plain ?? $body);
    }

    public function unreadable(): GerbangException
    {
        $kind = substr(preg_replace('~[^\w/+.-].*~s', '', $this->header('content-type')), 0, 60) ?: 'no content type';
        $message = "The answer is none of this API: status {$this->status}, " . strlen($this->body) . " bytes, $kind.";
        $retryable = $this->status < 300 || $this->status === 429 || $this->status >= 500;
        $error = new GerbangException('ANSWER_UNREADABLE', $message, $this->status, $this->requestId(), retryable: $retryable);
        $error->retryAfter = $this->retryAfter();
        return $error;
    }

    /** The error of an answer that is no success. */
    public function error(): GerbangException
    {
        if ($this->status >= 300 && $this->status < 400) {
            return new GerbangException('REDIRECTED', "The service answered {$this->status}.", $this->status, $this->requestId());
        }
        try {
            $found = $this->parsed()['error'] ?? null;
        } catch (GerbangException $error) {
            return $error;
        }
        [$code, $message] = is_array($found) ? [$found['code'] ?? null, $found['message'] ?? null] : [null, null];
        if (!is_string($code) || !preg_match('/^[A-Z][A-Z0-9_]{0,79}$/D', $code) || !is_string($message)) {
            return $this->unreadable();
        }
        $error = new GerbangException(
            $code,
            (string) Rules::cut($message, MESSAGE_MAX),
            $this->status,
            Answer::checkedId($found['request_id'] ?? null) ?? $this->requestId(),
            is_array($found['details'] ?? null) ? $found['details'] : [],
            $this->status === 429 || $this->status >= 500 || $code === 'IDEMPOTENCY_IN_PROGRESS',
        );
        $error->retryAfter = $this->retryAfter();
        $error->date = $this->header('date');
        return $error;
    }
}

/** One connection, kept alive. Never follows a redirect, never reads more than it is told to, never waits beyond the timeout. @internal */
final class Transport
{
    /** What stands in front of /v1. */
    public string $root;
    private string $path;
    private string $host;
    private string $address;
    /** @var resource|null */
    private $stream = null;
    private int $pid = 0;
    private string $buffer = '';
    private float $until = 0.0;
    private int $most = 0;

    public function __construct(string $baseUrl, private array $tls)
    {
        $parts = parse_url($baseUrl) ?: [];
        $scheme = strtolower($parts['scheme'] ?? '');
        $isPlain = isset($parts['host']) && array_diff(array_keys($parts), ['scheme', 'host', 'port', 'path']) === [];
        if (!in_array($scheme, ['http', 'https'], true) || !$isPlain || !preg_match('/^[!-~]+$/D', $baseUrl)) {
            $form = 'http(s)://host[:port][/path][/v1] in ASCII, without a query or user information';
            throw new \InvalidArgumentException("base_url must be $form");
        }
        $usual = $scheme === 'https' ? 443 : 80;
        $port = $parts['port'] ?? $usual;
        $host = strtolower($parts['host']);
        $this->host = $host . ($port === $usual ? '' : ":$port");
        $this->address = ($scheme === 'https' ? 'tls' : 'tcp') . "://$host:$port";
        $this->path = preg_replace('~/v1$~D', '', rtrim($parts['path'] ?? '', '/'));
        $this->root = "$scheme://{$this->host}{$this->path}";
        $this->tls += ['peer_name' => trim($host, '[]'), 'verify_peer' => true, 'verify_peer_name' => true];
    }

    /** Sends a request and reads its whole answer of at most so many bytes within the timeout, in seconds. Throws GerbangException. */
    public function send(string $method, string $target, array $headers, string $body, float $timeout, int $most): Answer
    {
        $this->until = hrtime(true) / 1e9 + $timeout;
        $this->most = $most;
        $whole = false;
        $answer = null;
        $headers = ['Host' => $this->host] + $headers + ($method === 'GET' ? [] : ['Content-Length' => strlen($body)]);
        $lines = array_map(fn($name, $value) => "$name: $value\r\n", array_keys($headers), $headers);
        try {
            $this->connect($timeout);
            $this->write("$method {$this->path}$target HTTP/1.1\r\n" . implode('', $lines) . "\r\n" . $body);
            $answer = $this->readHead();
            $whole = $this->readBody($answer) && strtolower($answer->header('connection')) !== 'close';
            return $answer;
        } catch (GerbangException $error) {
            $error->requestId ??= $answer?->requestId();
            throw $error;
        } finally {
            if (!$whole) {
                $this->close();
            }
        }
    }

    public function close(): void
    {
        if ($this->stream !== null && $this->pid === getmypid()) {
            fclose($this->stream);
        }
        $this->stream = null;
        $this->buffer = '';
    }

    private function connect(float $timeout): void
    {
        if ($this->stream !== null && ($this->pid !== getmypid() || $this->buffer !== '' || $this->hasEnded())) {
            $this->close();
        }
        if ($this->stream !== null) {
            return;
        }
        $failure = '';
        set_error_handler(function (int $_, string $message) use (&$failure): bool {
            $failure .= $message;
            return true;
        });
        try {
            $context = stream_context_create(['ssl' => $this->tls, 'socket' => ['tcp_nodelay' => true]]);
            $stream = stream_socket_client($this->address, $_, $reason, $timeout, STREAM_CLIENT_CONNECT, $context);
        } finally {
            restore_error_handler();
        }
        if ($stream === false) {
            if (str_contains($failure, 'certificate verify failed') || str_contains($failure, 'did not match expected')) {
                throw new GerbangException('CONNECTION_FAILED', 'The certificate does not verify.');
            }
            $late = hrtime(true) / 1e9 >= $this->until;
            $why = str_contains($failure, 'wrong version number') ? 'it speaks no TLS' : ($reason ?: 'no reason was given');
            throw self::lost($late ? 'TIMED_OUT' : 'CONNECTION_FAILED', "No connection to {$this->address} could be made: $why.");
        }
        stream_set_blocking($stream, false);
        $this->stream = $stream;
        $this->pid = getmypid();
    }

    /** Whether an idle connection was closed by the other side: then it has something to read. */
    private function hasEnded(): bool
    {
        $read = [$this->stream];
        $none = null;
        return feof($this->stream) || @stream_select($read, $none, $none, 0) !== 0;
    }

    private function await(bool $toWrite): void
    {
        $left = $this->until - hrtime(true) / 1e9;
        $read = $toWrite ? null : [$this->stream];
        $write = $toWrite ? [$this->stream] : null;
        $none = null;
        $seconds = (int) max(0, floor($left));
        $ready = $left <= 0 ? 0 : @stream_select($read, $write, $none, $seconds, (int) (($left - $seconds) * 1e6) + 1);
        if ($ready === 0) {
            throw self::lost('TIMED_OUT', 'No whole answer came in time.');
        }
    }

    private function write(string $bytes): void
    {
        while ($bytes !== '') {
            $this->await(true);
            $written = @fwrite($this->stream, $bytes);
            if ($written === false || ($written === 0 && feof($this->stream))) {
                throw self::lost('CONNECTION_FAILED', 'The connection was closed before the request was sent.');
            }
            $bytes = substr($bytes, $written);
        }
    }

    /** Reads more into the buffer. False at the end of the connection. */
    private function more(): bool
    {
        while (true) {
            $this->await(false);
            $part = @fread($this->stream, 65_536);
            if ($part !== false && $part !== '') {
                $this->buffer .= $part;
                return true;
            }
            if ($part === false || feof($this->stream)) {
                return false;
            }
        }
    }

    private function readHead(): Answer
    {
        do {
            while (($end = strpos($this->buffer, "\r\n\r\n")) === false) {
                if (strlen($this->buffer) > 65_536 || !$this->more()) {
                    throw self::lost('CONNECTION_FAILED', 'The connection ended before an answer came.');
                }
            }
            $lines = explode("\r\n", substr($this->buffer, 0, $end));
            $this->buffer = substr($this->buffer, $end + 4);
            if (!preg_match('~^HTTP/1\.[01] ([1-9][0-9]{2})( |$)~', $lines[0], $found)) {
                throw self::lost('CONNECTION_FAILED', 'The answer is not HTTP/1.');
            }
        } while ($found[1] < 200);
        $headers = str_starts_with($lines[0], 'HTTP/1.0') ? ['connection' => 'close'] : [];
        foreach (array_slice($lines, 1, 200) as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $headers[strtolower($name)] = trim($value);
        }
        return new Answer((int) $found[1], $headers);
    }

    /** Reads the body. False when the connection cannot be used again. */
    private function readBody(Answer $answer): bool
    {
        if ($answer->status === 204 || $answer->status === 304) {
            return true;
        }
        if (strtolower($answer->header('transfer-encoding')) === 'chunked') {
            $this->readChunks($answer);
            return true;
        }
        $announced = $answer->header('content-length');
        if ($announced === '') {
            do {
                $this->limit($answer, strlen($this->buffer));
            } while ($this->more());
            $answer->body = $this->buffer;
            $this->buffer = '';
            return false;
        }
        if (!preg_match('/^[0-9]{1,15}$/D', $announced)) {
            throw self::lost('CONNECTION_FAILED', 'The answer is not HTTP/1.');
        }
        $this->limit($answer, (int) $announced);
        $answer->body = $this->take((int) $announced);
        return true;
    }

    private function readChunks(Answer $answer): void
    {
        do {
            if (!preg_match('/^([0-9a-f]{1,8})[ \t]*(;.*)?$/Di', $this->line(), $found)) {
                throw self::lost('CONNECTION_FAILED', 'The answer is not HTTP/1.');
            }
            $size = (int) hexdec($found[1]);
            $this->limit($answer, strlen($answer->body) + $size);
            $answer->body .= $this->take($size);
            if ($size > 0 && $this->line() !== '') {
                throw self::lost('CONNECTION_FAILED', 'The answer is not HTTP/1.');
            }
        } while ($size > 0);
        for ($trailers = 0; $this->line() !== ''; $trailers++) {
            if ($trailers > 100) {
                throw self::lost('CONNECTION_FAILED', 'The answer is not HTTP/1.');
            }
        }
    }

    private function line(): string
    {
        while (($end = strpos($this->buffer, "\r\n")) === false) {
            if (strlen($this->buffer) > 8_192 || !$this->more()) {
                throw self::lost('CONNECTION_FAILED', 'The answer was cut.');
            }
        }
        $line = substr($this->buffer, 0, $end);
        $this->buffer = substr($this->buffer, $end + 2);
        return $line;
    }

    private function take(int $size): string
    {
        while (strlen($this->buffer) < $size) {
            if (!$this->more()) {
                throw self::lost('CONNECTION_FAILED', 'The answer was cut.');
            }
        }
        $bytes = substr($this->buffer, 0, $size);
        $this->buffer = substr($this->buffer, $size);
        return $bytes;
    }

    private function limit(Answer $answer, int $size): void
    {
        $most = $answer->status >= 200 && $answer->status < 300 ? $this->most : ANSWER_MAX_BYTES;
        if ($size > $most) {
            throw new GerbangException('ANSWER_TOO_LARGE', 'The answer has more than ' . number_format($most) . ' bytes.', $answer->status);
        }
    }

    private static function lost(string $code, string $message): GerbangException
    {
        return new GerbangException($code, $message, retryable: true);
    }
}

/** Timestamps of the interface's own scheme that this process has used: two equal requests of one second need two. @internal */
final class Stamps
{
    private array $used = [];
    private int $prunedAt = 0;

    /** The free timestamp that is nearest to now; `$anywhere`: a random one, since others use the near ones as well. */
    public function take(string $request, int $now, bool $anywhere): int
    {
        if ($now - $this->prunedAt > WINDOW_SECONDS) {
            $this->used = array_filter($this->used, fn($stamp) => $now - $stamp <= 2 * WINDOW_SECONDS);
            $this->prunedAt = $now;
        }
        $order = range(-SPREAD_SECONDS, SPREAD_SECONDS);
        // By random_int, and not by shuffle: processes that were forked from one, or seeded alike, would all draw the same.
        $places = array_map(fn(int $offset): int => $anywhere ? random_int(0, PHP_INT_MAX) : abs($offset), $order);
        array_multisort($places, $order);
        foreach ($order as $offset) {
            $stamp = $now + $offset;
            if (!isset($this->used["$request $stamp"])) {
                return $this->used["$request $stamp"] = $stamp;
            }
        }
        throw new GerbangException('SIGNATURE_REPLAYED', 'Every timestamp within the window was used for this very request.', 401);
    }
}

/**
 * Calls the API for one merchant. Options: `client_id`, `secret` and `base_url`, from GERBANG_CLIENT_ID, GERBANG_SECRET and GERBANG_BASE_URL
 * where they are left out; `scheme`: `rfc9421`, or `timestamp` for X-Timestamp and X-Signature; `timeout` for one attempt (30) and `deadline`
 * for a call with all its attempts and waits (120), in seconds; `tls`: options of PHP's ssl context, such as `cafile`; `log`: a function that is
 * told of each attempt: `method`, `path`, `attempt`, `outcome`, `request_id`, `ms`.
 *
 * Calls take the API's own fields as an array, and those that write a second one: `idempotency_key`, `deadline`.
 */
final class Client
{
    public Payments $payments;
    public Refunds $refunds;
    public Balances $balances;
    public Settlements $settlements;
    public Disputes $disputes;
    public Events $events;
    public PaymentLinks $paymentLinks;
    public Sandbox $sandbox;
    public Webhooks $webhooks;
    public float $timeout;
    private float $deadline;
    private string $clientId;
    private string $scheme;
    private Secret $secret;
    private Transport $transport;
    private Stamps $stamps;
    private Time $time;
    private ?\Closure $log;
    private int $offset = 0;

    /** Throws InvalidArgumentException where something is missing. */
    public function __construct(#[\SensitiveParameter] array $options = [])
    {
        $given = fn(string $name): string => (string) ($options[$name] ?? (getenv('GERBANG_' . strtoupper($name)) ?: ''));
        if ($given('secret') === '') {
            throw new \InvalidArgumentException('secret is missing: pass it, or set GERBANG_SECRET');
        }
        $this->secret = new Secret($given('secret'));
        $this->clientId = $given('client_id');
        $address = $given('base_url');
        $this->scheme = $options['scheme'] ?? 'rfc9421';
        $this->timeout = (float) ($options['timeout'] ?? 30);
        $this->deadline = (float) ($options['deadline'] ?? 120);
        $this->time = $options['time'] ?? new Time();
        $this->log = isset($options['log']) ? \Closure::fromCallable($options['log']) : null;
        $tls = $options['tls'] ?? [];
        $options = null; // no trace of a later error has the secret
        if (PHP_INT_SIZE < 8) {
            throw new \InvalidArgumentException('amounts need a PHP of 64 bits');
        }
        if ($this->clientId === '') {
            throw new \InvalidArgumentException('client_id is missing: pass it, or set GERBANG_CLIENT_ID to one like ak_test_…');
        }
        if (!preg_match('/^[\w-]{1,100}$/D', $this->clientId)) {
            throw new \InvalidArgumentException('client_id is not one like ak_test_…: look for a space or a line end in it');
        }
        if (!in_array($this->scheme, ['rfc9421', 'timestamp'], true)) {
            throw new \InvalidArgumentException('scheme is rfc9421 or timestamp');
        }
        if ($address === '') {
            throw new \InvalidArgumentException('base_url is missing: pass it, or set GERBANG_BASE_URL to one like https://pay.example/v1');
        }
        $this->transport = new Transport($address, $tls);
        $this->stamps = new Stamps();
        $this->payments = new Payments($this, $this->time);
        $this->refunds = new Refunds($this);
        $this->balances = new Balances($this);
        $this->settlements = new Settlements($this);
        $this->disputes = new Disputes($this);
        $this->events = new Events($this);
        $this->paymentLinks = new PaymentLinks($this);
        $this->sandbox = new Sandbox($this);
        $this->webhooks = new Webhooks();
    }

    /** Whether the service is well. Throws when it is not. */
    public function health(): array
    {
        return $this->call('GET', '/v1/health', expected: Expected::has('status'));
    }

    /** Closes the connection; the next call opens another. */
    public function close(): void
    {
        $this->transport->close();
    }

    /**
     * One call of the API by its path, signed and tried again where that is safe. Gives the answer; throws GerbangException. `$expected` is for
     * this library alone.
     */
    public function call(
        string $method,
        string $path,
        array $body = [],
        array $query = [],
        array $options = [],
        ?Expected $expected = null,
    ): array {
        return $this->tried($method, $path, $expected ?? Expected::any($method), $body, $query, $options)->object;
    }

    /** @internal When a call that begins now has to be over. */
    public function giveUp(array $options): float
    {
        return $this->time->monotonic() + (float) ($options['deadline'] ?? $this->deadline);
    }

    /** @internal */
    public function tried(
        string $method,
        string $path,
        Expected $expected,
        array $body = [],
        array $query = [],
        array $options = [],
    ): Answer {
        if (!preg_match('~^/v1/[!-\~]*$~D', $path) || !preg_match('/^[A-Z]{3,7}$/D', $method)) {
            throw new \InvalidArgumentException('a call has a method in capitals and a path that begins with /v1/');
        }
        $query = http_build_query($query, '', '&', PHP_QUERY_RFC3986);
        $target = $path . ($query === '' ? '' : "?$query");
        $payload = $method === 'GET' ? '' : self::json($body);
        $key = $method === 'GET' ? null : self::key($options['idempotency_key'] ?? null);
        $giveUp = $this->giveUp($options);
        $replays = 0;
        $corrected = false;
        $unknown = false;
        for ($attempt = 1; ; $attempt++) {
            $timeout = min((float) ($options['timeout'] ?? $this->timeout), max(0.001, $giveUp - $this->time->monotonic()));
            $begun = hrtime(true);
            try {
                $answer = $this->attempt($method, $target, $payload, $key, $timeout, $replays > 0, $expected);
                $answer->attempts = $attempt;
                $this->report($method, $path, $attempt, (string) $answer->status, $answer->requestId(), $begun);
                return $answer;
            } catch (GerbangException $error) {
                $unknown = $key !== null && ($error->opens() || ($unknown && !$error->closes()));
                $error->after($key, $attempt, $unknown);
                $this->report($method, $path, $attempt, $error->code, $error->requestId, $begun);
                $wait = null;
                if ($error->code === 'SIGNATURE_REPLAYED') {
                    $wait = $replays++ < ($this->scheme === 'rfc9421' ? 1 : ATTEMPTS_MAX) ? 0.0 : null;
                } elseif ($error->code === 'TIMESTAMP_OUT_OF_WINDOW' && !$corrected) {
                    $corrected = $this->correct($error->date);
                    $wait = $corrected ? 0.0 : null;
                } elseif ($error->retryable) {
                    $wait = 2 ** ($attempt - 1) * self::between(0.8, 1.2);
                    $wait = max($wait, ($error->retryAfter ?? 0) * self::between(1, 1.2));
                }
                if ($attempt >= ATTEMPTS_MAX || $wait === null || $this->time->monotonic() + $wait > $giveUp) {
                    throw $error;
                }
                $this->time->sleep($wait);
            }
        }
    }

    private function report(string $method, string $path, int $attempt, string $outcome, ?string $requestId, int $begun): void
    {
        if ($this->log !== null) {
            $told = ['method' => $method, 'path' => $path, 'attempt' => $attempt, 'outcome' => $outcome, 'request_id' => $requestId];
            ($this->log)($told + ['ms' => (int) round((hrtime(true) - $begun) / 1e6)]);
        }
    }

    private function attempt(
        string $method,
        string $target,
        string $body,
        ?string $key,
        float $timeout,
        bool $replayed,
        Expected $expected,
    ): Answer {
        $headers = $this->signed($method, $target, $body, $key, $replayed);
        $answer = $this->transport->send($method, $target, $headers, $body, $timeout, $expected->most);
        $answer->at = $this->time->now();
        if ($answer->status < 200 || $answer->status >= 300 || $answer->status === 202) {
            throw $answer->error();
        }
        if ($answer->body === '' || $answer->isCsv() !== $expected->isCsv) {
            throw $answer->unreadable();
        }
        if (!$expected->isCsv) {
            $answer->object = $answer->parsed();
            // An error with a status of success is none of the API's answers.
            if (is_array($answer->object['error'] ?? null) || !$expected->fits($answer)) {
                throw $answer->unreadable();
            }
        }
        return $answer;
    }

    private function signed(string $method, string $target, string $body, ?string $key, bool $replayed): array
    {
        $headers = ['Accept' => 'application/json', 'Authorization' => "Bearer {$this->clientId}", 'User-Agent' => 'gerbang-php/' . VERSION];
        $headers += $body === '' ? [] : ['Content-Type' => 'application/json'];
        $headers += $key === null ? [] : ['Idempotency-Key' => $key];
        $now = $this->time->now() + $this->offset;
        if ($this->scheme === 'rfc9421') {
            $url = $this->transport->root . $target;
            $nonce = bin2hex(random_bytes(16));
            return $headers + self::messageHeaders($this->secret, $this->clientId, $method, $url, $body, $key, $now, $nonce);
        }
        // What makes two requests one: of a write its bytes alone, of a read its address too.
        $request = hash('sha256', ($key === null ? "$method $target" : '') . "\0$body");
        $stamp = (string) $this->stamps->take($request, $now, $replayed);
        return $headers + ['X-Timestamp' => $stamp, 'X-Signature' => bin2hex($this->secret->hmac("$stamp.$body"))];
    }

    /** The headers of RFC 9421: Content-Digest, Signature-Input, Signature. @internal */
    public static function messageHeaders(
        Secret $secret,
        string $clientId,
        string $method,
        string $url,
        string $body,
        ?string $key,
        int $created,
        string $nonce,
    ): array {
        $digest = 'sha-256=:' . base64_encode(hash('sha256', $body, true)) . ':';
        $covered = ['@method' => $method, '@target-uri' => $url, 'content-digest' => $digest];
        $covered += $key === null ? [] : ['idempotency-key' => $key];
        $parameters = '("' . implode('" "', array_keys($covered)) . "\");created=$created;keyid=\"$clientId\";nonce=\"$nonce\"";
        $lines = array_map(fn($name, $value) => "\"$name\": $value", array_keys($covered), $covered);
        $base = implode("\n", [...$lines, "\"@signature-params\": $parameters"]);
        $signature = base64_encode($secret->hmac($base));
        return ['Content-Digest' => $digest, 'Signature-Input' => "sig1=$parameters", 'Signature' => "sig1=:$signature:"];
    }

    /** Takes the service's clock for ours, as its answer tells it. False where it tells none, or one of another day. */
    private function correct(?string $date): bool
    {
        $moment = Answer::date($date ?? '');
        $now = $this->time->now();
        if ($moment === null || abs($moment - $now) > CORRECTION_MAX_SECONDS) {
            return false;
        }
        $this->offset = $moment - $now;
        return true;
    }

    private static function between(float $least, float $most): float
    {
        return $least + ($most - $least) * random_int(0, 1_000_000) / 1_000_000;
    }

    private static function key(mixed $key): string
    {
        if ($key === null) {
            return bin2hex(random_bytes(16));
        }
        if (!is_string($key) || !preg_match('/^[!-~][ -~]{6,253}[!-~]$/D', $key)) {
            throw new GerbangException('IDEMPOTENCY_KEY_INVALID', 'Idempotency-Key must be 8 to 255 ASCII characters.', 422);
        }
        return $key;
    }

    /** @internal A key for a body that is one intent: equal bodies have equal keys. */
    public function keyOf(array $body): string
    {
        return hash('sha256', self::json($body));
    }

    private static function json(array $body): string
    {
        foreach (['metadata', 'customer', 'headers'] as $name) {
            if (is_array($body[$name] ?? null)) {
                $body[$name] = (object) $body[$name]; // an array without names is an object of the API all the same
            }
        }
        try {
            $flags = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR;
            return json_encode((object) $body, $flags, 128);
        } catch (\JsonException $error) {
            $message = 'The body must be one JSON object in UTF-8 without duplicate keys, as application/json.';
            throw new GerbangException('MALFORMED_JSON', $message, 400, advice: $error->getMessage());
        }
    }
}

/** @internal */
abstract class Resource
{
    public function __construct(protected Client $gerbang)
    {
    }

    /** All objects of a list, page by page as they are asked for. */
    protected function pages(string $path, array $filters): \Generator
    {
        $filters += ['limit' => 100];
        $seen = [$filters['starting_after'] ?? '' => true];
        while (true) {
            $page = $this->pageOf($path, $filters);
            foreach ($page['data'] as $one) {
                yield $one;
            }
            if (!$page['has_more']) {
                return;
            }
            $cursor = $page['next_cursor'] ?? null;
            // To go on would have no end, and to end here would leave objects out. A page may be empty and have more after it.
            if (!is_string($cursor) || $cursor === '' || isset($seen[$cursor])) {
                throw (new GerbangException('ANSWER_UNREADABLE', 'The list has more, and does not say where.', 200))->ofRead();
            }
            $seen[$cursor] = true;
            $filters['starting_after'] = $cursor;
        }
    }

    protected function pageOf(string $path, array $filters): array
    {
        $query = array_filter($filters, fn($value) => $value !== null);
        return $this->gerbang->call('GET', $path, query: $query, expected: Expected::page());
    }
}

/** @internal */
abstract class Listed extends Resource
{
    protected const PATH = '';

    /** One page: `data`, `has_more`, `next_cursor`. Send `next_cursor` as `starting_after` for the next one. */
    public function page(array $filters = []): array
    {
        return $this->pageOf(static::PATH, $filters);
    }

    /** All objects, newest first. A generator: foreach over it, once. */
    public function list(array $filters = []): \Generator
    {
        return $this->pages(static::PATH, $filters);
    }
}

final class Payments extends Listed
{
    protected const PATH = '/v1/payments';
    /** Codes after which a payment with this reference_id may exist. */
    private const MAY_EXIST = ['REFERENCE_ID_DUPLICATE', 'RISK_REVIEW', 'IDEMPOTENCY_CONFLICT'];

    public function __construct(Client $gerbang, private Time $time)
    {
        parent::__construct($gerbang);
    }

    /** Creates a payment. When it throws an error of the way to the service, the outcome is open: see createOrFind. */
    public function create(array $payment, array $options = []): array
    {
        return $this->gerbang->call('POST', self::PATH, Rules::check('payment', $payment), [], $options, Expected::has('reference'));
    }

    /**
     * Creates a payment, or gives the one that an attempt before has made: looked up by its `reference_id` when the outcome stays open, when it is
     * under review, or when another key made it with the same amount, currency and method. Without a key of your own the key is made of the
     * body, so that a second call takes the same payment further after GATEWAY_ERROR.
     */
    public function createOrFind(array $payment, array $options = []): array
    {
        $sent = Rules::check('payment', $payment);
        $options['idempotency_key'] ??= $this->gerbang->keyOf($sent);
        $giveUp = $this->gerbang->giveUp($options);
        try {
            $answer = $this->gerbang->tried('POST', self::PATH, Expected::has('reference'), $sent, options: $options);
            if (!self::isSame($answer->object, $sent)) {
                throw self::ofAnother($answer, $options['idempotency_key']);
            }
            // A kept answer, which the service gives with status 200, shows the payment as it was at its creation.
            return ($answer->status === 200 ? $this->find($sent, $giveUp) : null) ?? $answer->object;
        } catch (GerbangException $error) {
            if (!$error->outcomeUnknown && !in_array($error->code, self::MAY_EXIST, true)) {
                throw $error;
            }
            // Without it nothing is known that its caller does not know already.
            return $this->find($sent, $giveUp) ?? throw $error;
        }
    }

    /** The payment with this reference_id, amount, currency and method; null when there is none, or the lookup fails. */
    private function find(array $sent, float $giveUp): ?array
    {
        $left = max($giveUp - $this->time->monotonic(), min($this->gerbang->timeout, LOOKUP_MIN_SECONDS));
        $options = ['deadline' => $left];
        try {
            $query = ['reference_id' => $sent['reference_id']];
            $page = $this->gerbang->call('GET', self::PATH, query: $query, options: $options, expected: Expected::page());
        } catch (GerbangException) {
            return null;
        }
        $same = array_filter($page['data'], fn(array $found): bool => self::isSame($found, $sent));
        return array_shift($same);
    }

    private static function isSame(array $found, array $asked): bool
    {
        foreach (['amount_minor', 'currency', 'payment_method', 'reference_id'] as $name) {
            if (($found[$name] ?? null) !== $asked[$name]) {
                return false;
            }
        }
        return true;
    }

    private static function ofAnother(Answer $answer, string $key): GerbangException
    {
        $message = 'The answer is about another payment.';
        $error = new GerbangException('ANSWER_UNREADABLE', $message, $answer->status, $answer->requestId(), retryable: true);
        [$error->idempotencyKey, $error->attempts, $error->outcomeUnknown] = [$key, $answer->attempts, true];
        return $error;
    }

    public function get(string $reference): array
    {
        return $this->read($reference);
    }

    private function read(string $reference, array $options = []): array
    {
        $path = '/v1/payments/' . Rules::id('pay', $reference);
        return $this->gerbang->call('GET', $path, options: $options, expected: Expected::has('reference', 'status'));
    }

    /** Cancels a pending payment; `reason` is the one field, and optional. */
    public function cancel(string $reference, array $body = [], array $options = []): array
    {
        $path = '/v1/payments/' . Rules::id('pay', $reference) . '/cancel';
        return $this->gerbang->call('POST', $path, Rules::check('cancel', $body), [], $options, Expected::has('reference'));
    }

    /**
     * Reads the payment until it has this status, or one of several: after 1, 2, 4 and then every 8 seconds, for `timeout` seconds at most (600). A
     * payment that was paid and refunded has `succeeded`. Throws STATE_NOT_REACHED when time is over, or when it never will be.
     */
    public function waitFor(string $reference, string|array $status = 'succeeded', array $options = []): array
    {
        $wanted = (array) $status;
        $giveUp = $this->time->monotonic() + (float) ($options['timeout'] ?? 600);
        $refunded = ['partially_refunded', 'refunded'];
        for ($pause = 1.0; ; $pause = min($pause * 2, 8.0)) {
            $payment = $this->read($reference, ['deadline' => $giveUp - $this->time->monotonic()]);
            $now = $payment['status'];
            if (in_array($now, $wanted, true) || (in_array('succeeded', $wanted, true) && in_array($now, $refunded, true))) {
                return $payment;
            }
            $isPaid = in_array($now, ['succeeded', 'partially_refunded'], true) && array_intersect($wanted, $refunded) === [];
            $isFinal = $isPaid || in_array($now, ['failed', 'expired', 'canceled', 'refunded'], true);
            if ($isFinal || $this->time->monotonic() + $pause + 1 > $giveUp) { // a request needs time, too
                $state = Rules::shown($now) . ', not ' . implode(' or ', $wanted);
                $message = "The payment $reference is $state" . ($isFinal ? '.' : ' in time.');
                throw new GerbangException('STATE_NOT_REACHED', $message, details: ['reference' => $reference, 'status' => $now]);
            }
            $this->time->sleep($pause);
        }
    }
}

final class Refunds extends Listed
{
    protected const PATH = '/v1/refunds';

    /** Refunds a payment, all that is left of it where no amount is given. Give `idempotency_key` to repeat it later. */
    public function create(array $refund, array $options = []): array
    {
        return $this->gerbang->call('POST', self::PATH, Rules::check('refund', $refund), [], $options, Expected::has('uuid'));
    }

    public function get(string $uuid): array
    {
        return $this->gerbang->call('GET', '/v1/refunds/' . Rules::id('rfd', $uuid), expected: Expected::has('uuid'));
    }
}

final class Balances extends Resource
{
    public function get(): array
    {
        return $this->gerbang->call('GET', '/v1/balances', expected: Expected::list());
    }

    /** The entries behind a figure: `figure` is `available`, `held` or `pending_settlement`. */
    public function entries(string $currency, array $filters = []): \Generator
    {
        return $this->pages('/v1/balances/' . Rules::currencyOf($currency) . '/entries', $filters);
    }
}

final class Settlements extends Listed
{
    protected const PATH = '/v1/settlements';

    public function get(string $uuid): array
    {
        return $this->gerbang->call('GET', '/v1/settlements/' . Rules::id('set', $uuid), expected: Expected::has('uuid'));
    }

    /** The batch as CSV, one line an item. */
    public function statement(string $uuid): string
    {
        return $this->gerbang->tried('GET', '/v1/settlements/' . Rules::id('set', $uuid) . '/statement', Expected::csv())->body;
    }
}

final class Disputes extends Listed
{
    protected const PATH = '/v1/disputes';

    public function get(string $uuid): array
    {
        return $this->gerbang->call('GET', '/v1/disputes/' . Rules::id('dsp', $uuid), expected: Expected::has('uuid'));
    }
}

final class Events extends Listed
{
    protected const PATH = '/v1/events';

    public function get(string $id): array
    {
        return $this->gerbang->call('GET', '/v1/events/' . Rules::id('evt', $id), expected: Expected::has('id'));
    }

    /** The attempts to deliver an event. */
    public function deliveries(string $id, array $filters = []): \Generator
    {
        return $this->pages('/v1/events/' . Rules::id('evt', $id) . '/deliveries', $filters);
    }

    public function resend(string $id, array $options = []): array
    {
        $path = '/v1/events/' . Rules::id('evt', $id) . '/resend';
        return $this->gerbang->call('POST', $path, options: $options, expected: Expected::has('id'));
    }

    /** Sends the events since a moment again, 1,000 a call: go on with `next_cursor` as `starting_after`. `filters`: `state`, `starting_after`. */
    public function resendSince(string $since, array $filters = [], array $options = []): array
    {
        $expected = Expected::with('resent', 'is_int');
        return $this->gerbang->call('POST', '/v1/events/resend', ['since' => $since] + $filters, [], $options, $expected);
    }

    /** Sends those that are named again, 100 at most. */
    public function resendMany(array $ids, array $options = []): array
    {
        $expected = Expected::with('resent', 'is_int');
        return $this->gerbang->call('POST', '/v1/events/resend', ['event_ids' => array_values($ids)], [], $options, $expected);
    }
}

final class PaymentLinks extends Listed
{
    protected const PATH = '/v1/payment-links';

    public function create(array $link, array $options = []): array
    {
        return $this->gerbang->call('POST', self::PATH, Rules::check('link', $link), [], $options, Expected::has('uuid'));
    }

    public function get(string $uuid): array
    {
        return $this->gerbang->call('GET', '/v1/payment-links/' . Rules::id('lnk', $uuid), expected: Expected::has('uuid'));
    }

    public function deactivate(string $uuid, array $options = []): array
    {
        $path = '/v1/payment-links/' . Rules::id('lnk', $uuid) . '/deactivate';
        return $this->gerbang->call('POST', $path, options: $options, expected: Expected::has('uuid'));
    }
}

/** What plays the world around the sandbox: payers, banks and time. */
final class Sandbox
{
    public SandboxPayments $payments;
    public SandboxRefunds $refunds;
    public SandboxDisputes $disputes;
    public SandboxSettlements $settlements;
    public SandboxClock $clock;
    public SandboxEvents $events;
    public SandboxWebhook $webhook;
    public SandboxRequests $requests;

    public function __construct(Client $gerbang)
    {
        $this->payments = new SandboxPayments($gerbang);
        $this->refunds = new SandboxRefunds($gerbang);
        $this->disputes = new SandboxDisputes($gerbang);
        $this->settlements = new SandboxSettlements($gerbang);
        $this->clock = new SandboxClock($gerbang);
        $this->events = new SandboxEvents($gerbang);
        $this->webhook = new SandboxWebhook($gerbang);
        $this->requests = new SandboxRequests($gerbang);
    }
}

final class SandboxPayments extends Resource
{
    /** `$outcome`: processing, succeeded, failed. */
    public function simulate(string $reference, string $outcome): array
    {
        $path = '/v1/sandbox/payments/' . Rules::id('pay', $reference) . '/simulate';
        return $this->gerbang->call('POST', $path, ['outcome' => $outcome], expected: Expected::has('reference'));
    }

    /** Contests a payment: `reason`, `amount_minor` (optional). */
    public function dispute(string $reference, array $dispute): array
    {
        $path = '/v1/sandbox/payments/' . Rules::id('pay', $reference) . '/dispute';
        return $this->gerbang->call('POST', $path, Rules::check('dispute', $dispute), expected: Expected::has('uuid'));
    }
}

final class SandboxRefunds extends Resource
{
    /** `$outcome`: succeeded, failed. */
    public function simulate(string $uuid, string $outcome): array
    {
        $path = '/v1/sandbox/refunds/' . Rules::id('rfd', $uuid) . '/simulate';
        return $this->gerbang->call('POST', $path, ['outcome' => $outcome], expected: Expected::has('uuid'));
    }
}

final class SandboxDisputes extends Resource
{
    /** `$outcome`: won, lost, withdrawn. */
    public function resolve(string $uuid, string $outcome): array
    {
        $path = '/v1/sandbox/disputes/' . Rules::id('dsp', $uuid) . '/resolve';
        return $this->gerbang->call('POST', $path, ['outcome' => $outcome], expected: Expected::has('uuid'));
    }
}

final class SandboxSettlements extends Resource
{
    public function run(): array
    {
        return $this->gerbang->call('POST', '/v1/sandbox/settlements/run', expected: Expected::list());
    }

    public function pay(string $uuid): array
    {
        $path = '/v1/sandbox/settlements/' . Rules::id('set', $uuid) . '/pay';
        return $this->gerbang->call('POST', $path, expected: Expected::has('uuid'));
    }
}

final class SandboxClock extends Resource
{
    public function get(): array
    {
        return $this->gerbang->call('GET', '/v1/sandbox/clock', expected: Expected::has('now'));
    }

    public function advance(int $seconds): array
    {
        $sent = Rules::check('advance', ['seconds' => $seconds]);
        return $this->gerbang->call('POST', '/v1/sandbox/clock/advance', $sent, expected: Expected::has('now'));
    }
}

final class SandboxEvents extends Resource
{
    public function trigger(string $type): array
    {
        return $this->gerbang->call('POST', '/v1/sandbox/events/trigger', ['type' => $type], expected: Expected::has('event_id'));
    }

    /** Waits for events: `after`, `seen` (an array), `wait` in seconds. Without `after` it only says where to begin (`next_after`). */
    public function listen(array $given = []): array
    {
        $wait = $given['wait'] ?? 20;
        $query = ['wait' => $wait] + array_filter(['after' => $given['after'] ?? null, 'seen' => implode(',', $given['seen'] ?? [])]);
        $options = ['timeout' => $this->gerbang->timeout + $wait];
        return $this->gerbang->call('GET', '/v1/sandbox/events/listen', [], $query, $options, Expected::list());
    }
}

final class SandboxWebhook extends Resource
{
    /** Sends genuine and false deliveries to your address and gives the scorecard. Takes 20 seconds at most. */
    public function exam(): array
    {
        $options = ['timeout' => $this->gerbang->timeout + 20];
        return $this->gerbang->call('POST', '/v1/sandbox/webhook/exam', [], [], $options, Expected::with('checks', 'is_array'));
    }

    /** Whether a delivery verifies: `headers`, `body`, and `received_at` and `computed_signature` (optional). */
    public function doctor(array $delivery): array
    {
        return $this->gerbang->call('POST', '/v1/sandbox/webhook/doctor', $delivery, expected: Expected::has('diagnosis'));
    }

    /** Lets deliveries go wrong on purpose, for so many attempts or until the mode is `none`. */
    public function misbehave(string $mode, ?int $forNext = null): array
    {
        $body = ['mode' => $mode] + ($forNext === null ? [] : ['for_next' => $forNext]);
        return $this->gerbang->call('PUT', '/v1/sandbox/webhook/misbehave', $body, expected: Expected::has('mode'));
    }

    /** How they go wrong now. */
    public function misbehaviour(): array
    {
        return $this->gerbang->call('GET', '/v1/sandbox/webhook/misbehave', expected: Expected::has('mode'));
    }
}

/** The log of your own requests in the sandbox. */
final class SandboxRequests extends Listed
{
    protected const PATH = '/v1/sandbox/requests';

    /** One with its bodies, redacted. */
    public function get(string $requestId): array
    {
        $path = '/v1/sandbox/requests/' . Rules::id('req', $requestId);
        return $this->gerbang->call('GET', $path, expected: Expected::has('request_id'));
    }

    /** Why the signature of a request was refused. */
    public function doctor(string $requestId): array
    {
        $path = '/v1/sandbox/requests/' . Rules::id('req', $requestId) . '/doctor';
        return $this->gerbang->call('GET', $path, expected: Expected::has('diagnosis'));
    }
}

/**
 * Remembers which events were handled, such as a table with the event's id as its key. A claim is over after a minute or so: a process that died
 * while it handled an event never says what became of it, and the event comes again.
 */
interface EventStore
{
    /**
     * Takes an event that nobody has, or whose claim is over: true for one caller alone, however many ask at once. false: it was handled. 'busy':
     * somebody else handles it, and their claim is not over.
     */
    public function claim(string $id): bool|string;

    /** The event was handled: nobody gets it any more. */
    public function done(string $id): void;

    /** It was not: who asks next may have it. */
    public function release(string $id): void;
}

/** Verifies deliveries, and makes them for tests. Needs no credentials. */
final class Webhooks
{
    private Time $time;

    public function __construct(?Time $time = null)
    {
        $this->time = $time ?? new Time();
    }

    /**
     * The status to answer to a delivery: 200 once `$on` is done, or was before; 401 to what is not genuine, 500 when `$on` throws, 503 while another
     * process handles the event. What was wrong goes to `$options['log']`, a function, and to PHP's log without it.
     *
     * With `$options['store']`, an EventStore, the event is claimed before `$on` gets it, so that of two copies one runs. Keep `$on` short (ten seconds at
     * most), such as a row in a queue. Further options are those of `unwrap`.
     */
    public function handle(
        string $rawBody,
        array $headers,
        #[\SensitiveParameter] string|array|false|null $secrets,
        callable $on,
        array $options = []
    ): int {
        $log = $options['log'] ?? 'error_log';
        $store = $options['store'] ?? null;
        try {
            $event = $this->unwrap($rawBody, $headers, $secrets, $options);
            $secrets = ''; // no trace of a later error has them
            if ($event !== null) {
                self::handOn($event, $on, $store, $log);
            }
            return 200;
        } catch (\Throwable $error) {
            $log("webhook: {$error->getMessage()}");
            return match (true) {
                $error instanceof WebhookException => 401,
                $error instanceof EventBusyException => 503,
                default => 500,
            };
        }
    }

    /** Hands on an event that is claimed, and ends the claim. What `$on` has done stays claimed, though `done` could not be kept. */
    private static function handOn(array $event, callable $on, ?EventStore $store, callable $log): void
    {
        try {
            $on($event);
        } catch (\Throwable $error) {
            try {
                $store?->release($event['id']);
            } catch (\Throwable $another) {
                $log("webhook: {$another->getMessage()}"); // then the claim ends by its time
            }
            throw $error;
        }
        $store?->done($event['id']);
    }

    private function claimed(EventStore $store, string $id): bool
    {
        for ($waited = 0.0; ; $waited += CLAIM_ASK_EVERY_SECONDS) {
            $answer = $store->claim($id);
            if ($answer !== 'busy') {
                return (bool) $answer;
            }
            if ($waited >= CLAIM_WAIT_MAX_SECONDS) {
                throw new EventBusyException();
            }
            $this->time->sleep(CLAIM_ASK_EVERY_SECONDS);
        }
    }

    /**
     * The event of a genuine delivery; throws WebhookException, whose `step` is the one that failed.
     *
     * `$rawBody` are the bytes as they came: file_get_contents('php://input'). `$headers` by name, a value or an array of values; $_SERVER will
     * do. `$secrets`: one, or several while they are rotated. Options: `prefix` of the service's headers (X-SVC-), `now` in Unix seconds, `store`,
     * an EventStore: then the event is claimed, one that was handled gives null (answer 2xx), and EventBusyException says that somebody handles
     * it. Whoever gets the event then says `done` or `release`.
     */
    public function unwrap(string $rawBody, array $headers, #[\SensitiveParameter] string|array|false|null $secrets, array $options = []): ?array
    {
        // A variable may be unset while secrets are rotated.
        $set = array_filter((array) $secrets, fn($secret) => $secret !== null && $secret !== '' && $secret !== false);
        // Not by array_map: its arguments would stand in the trace of an error.
        $known = [];
        foreach ($set as $secret) {
            $known[] = is_string($secret) ? new Secret($secret) : null;
        }
        $secrets = $set = []; // no trace of a later error has them
        if ($known === [] || in_array(null, $known, true)) {
            throw new \InvalidArgumentException('secrets: at least one webhook secret is needed, as text, such as that of GERBANG_WEBHOOK_SECRET');
        }
        $prefix = $options['prefix'] ?? 'X-SVC-';
        $now = $options['now'] ?? time();
        $given = self::byName($headers);
        $own = [$given[strtolower("{$prefix}Timestamp")] ?? null, $given[strtolower("{$prefix}Signature")] ?? null];
        $standard = [$given['webhook-id'] ?? null, $given['webhook-timestamp'] ?? null, $given['webhook-signature'] ?? null];
        if (!in_array(null, $own, true)) {
            try {
                self::verifyOwn($rawBody, $own, $known, $now);
            } catch (WebhookException $error) {
                if ($error->step !== 'signature_mismatch' || in_array(null, $standard, true)) {
                    throw $error;
                }
                // During the overlap after a rotation it carries the signature of the old secret as well.
                self::verifyStandard($rawBody, $standard, $known, $now);
            }
        } elseif (!in_array(null, $standard, true)) {
            self::verifyStandard($rawBody, $standard, $known, $now);
        } else {
            throw new WebhookException('header_missing', "{$prefix}Timestamp and {$prefix}Signature are not both there.");
        }
        $event = self::eventOf($rawBody);
        $store = $options['store'] ?? null;
        return $store === null || $this->claimed($store, $event['id']) ? $event : null;
    }

    /** The headers of a delivery of this body, for tests of your receiver. Options: `timestamp`, `prefix`, `attempt`. */
    public function sign(string $body, #[\SensitiveParameter] string $secret, array $options = []): array
    {
        $event = self::eventOf($body);
        $prefix = $options['prefix'] ?? 'X-SVC-';
        $stamp = (string) ($options['timestamp'] ?? time());
        return [
            'content-type' => 'application/json; charset=utf-8',
            "{$prefix}Event-Id" => $event['id'],
            "{$prefix}Event-Type" => $event['type'],
            "{$prefix}Timestamp" => $stamp,
            "{$prefix}Signature" => bin2hex((new Secret($secret))->hmac("$stamp.$body")),
            "{$prefix}Delivery-Attempt" => (string) ($options['attempt'] ?? 1),
        ];
    }

    /** The values of each header, by its name in small letters; HTTP_X_SVC_TIMESTAMP of $_SERVER is x-svc-timestamp. */
    private static function byName(array $headers): array
    {
        $found = [];
        foreach ($headers as $name => $values) {
            $plain = preg_match('/^HTTP_[A-Z0-9_]+$/D', (string) $name) ? strtr(substr((string) $name, 5), '_', '-') : (string) $name;
            foreach (array_filter((array) $values, 'is_scalar') as $value) {
                $found[strtolower($plain)][] = (string) $value;
            }
        }
        return $found;
    }

    private static function moment(array $values, int $now): string
    {
        if (count($values) !== 1 || !preg_match('/^[0-9]{1,12}$/D', $values[0])) {
            throw new WebhookException('timestamp_malformed', 'The timestamp is not 1 to 12 digits, once.');
        }
        if (abs($now - (int) $values[0]) > WINDOW_SECONDS) {
            throw new WebhookException('timestamp_out_of_window', "The timestamp is more than 300 seconds from this machine's clock.");
        }
        return $values[0];
    }

    private static function verifyOwn(string $body, array $own, array $known, int $now): void
    {
        [$stamps, $signatures] = $own;
        $stamp = self::moment($stamps, $now);
        if (count($signatures) !== 1 || !preg_match('/^[0-9a-f]{64}$/D', $signatures[0])) {
            throw new WebhookException('signature_malformed', 'The signature is not 64 characters 0-9a-f, once.');
        }
        foreach ($known as $secret) {
            if (hash_equals(bin2hex($secret->hmac("$stamp.$body")), $signatures[0])) {
                return;
            }
        }
        $message = 'The signature fits none of the secrets: another secret, or other bytes than were signed.';
        throw new WebhookException('signature_mismatch', $message);
    }

    private static function verifyStandard(string $body, array $standard, array $known, int $now): void
    {
        [$ids, $stamps, $signatures] = $standard;
        $stamp = self::moment($stamps, $now);
        // Several signatures stand in one header, separated by spaces. A header that came twice may have been joined by commas on the way.
        $isOnce = count($ids) === 1 && count($signatures) === 1 && !str_contains($signatures[0], ', ');
        $given = $isOnce ? array_filter(explode(' ', $signatures[0]), fn($one) => str_starts_with($one, 'v1,')) : [];
        if ($given === []) {
            $message = 'webhook-signature has no signature that begins with v1,, or came more than once.';
            throw new WebhookException('signature_malformed', $message);
        }
        foreach ($known as $secret) {
            $signed = $secret->standardHmac("{$ids[0]}.$stamp.$body");
            foreach ($signed === null ? [] : $given as $one) {
                if (hash_equals('v1,' . base64_encode($signed), $one)) {
                    return;
                }
            }
        }
        throw new WebhookException('signature_mismatch', 'webhook-signature fits none of the secrets: another secret, or other bytes than were signed.');
    }

    private static function eventOf(string $body): array
    {
        $event = json_decode($body, true, 128);
        if (!is_array($event) || !is_string($event['id'] ?? null) || !is_string($event['type'] ?? null)) {
            throw new WebhookException('body_malformed', 'The body is not a JSON object with the texts id and type.');
        }
        return $event;
    }
}
