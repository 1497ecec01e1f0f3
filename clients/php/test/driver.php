<?php
// Runs the vectors of sdk/vectors with the client: `{task, vectors, base_url}` on standard input, one result a vector on standard output.

declare(strict_types=1);

use Gerbang\{Client, EventStore, GerbangException, Secret, Time, WebhookException, Webhooks};

require __DIR__ . '/../Gerbang.php';

set_error_handler(function (int $level, string $message, string $file, int $line): bool {
    return (error_reporting() & $level) === 0 ? true : throw new ErrorException($message, 0, $level, $file, $line);
});

const CREDENTIALS = ['client_id' => 'ak_test_01kan3t5q8e4vs0x7ybd2m9fjh', 'secret' => 'sk_test_3q8mzv0c7x2fh5n9t4ykw6r1bdga8jpe'];

/** Time that passes by waiting alone. */
final class StandingClock extends Time
{
    public array $waits = [];

    public function __construct(private int $now)
    {
    }

    public function now(): int
    {
        return $this->now;
    }

    public function monotonic(): float
    {
        return array_sum($this->waits);
    }

    public function sleep(float $seconds): void
    {
        $this->waits[] = $seconds;
    }
}

/** Answers as a vector says, the last answer again and again, and notes what it was asked, equal questions in a row once. */
final class ScriptedStore implements EventStore
{
    public array $calls = [];

    public function __construct(private array $claims, private ?string $fails)
    {
    }

    public function note(string $name): void
    {
        if (end($this->calls) !== $name) {
            $this->calls[] = $name;
        }
        if ($name === $this->fails) {
            throw new RuntimeException('the database is away');
        }
    }

    public function claim(string $id): bool|string
    {
        $this->note('claim');
        return count($this->claims) > 1 ? array_shift($this->claims) : $this->claims[0];
    }

    public function done(string $id): void
    {
        $this->note('done');
    }

    public function release(string $id): void
    {
        $this->note('release');
    }
}

function called(Client $client, array $call, ?float $deadline): array
{
    $options = $deadline === null ? [] : ['deadline' => $deadline];
    return match ($call['operation']) {
        'payments.create' => $client->payments->create($call['body'], $options),
        'payments.createOrFind' => $client->payments->createOrFind($call['body'], $options),
        'payments.get' => $client->payments->get($call['reference']),
        'refunds.create' => $client->refunds->create($call['body'], $options),
    };
}

/** What a call gives. */
function asked(Client $client, array $call): mixed
{
    $given = $call['given'] ?? null;
    if (is_array($given) && ($given['customer'] ?? null) === []) {
        $given['customer'] = new stdClass();
    }
    [$reference, $settlement] = ['pay_01kan3t5q8e4vs0x7ybd2m9fjh', 'set_01kan3t5q8e4vs0x7ybd2m9fjh'];
    return match ($call['operation']) {
        'payments.create' => $client->payments->create($given),
        'payments.createOrFind' => $client->payments->createOrFind($given),
        'payments.get' => $client->payments->get($reference),
        'payments.cancel' => $client->payments->cancel($reference),
        'payments.list' => iterator_count($client->payments->list()),
        'payments.waitFor' => $client->payments->waitFor($reference, options: ['timeout' => $given]),
        'refunds.create' => $client->refunds->create($given),
        'paymentLinks.create' => $client->paymentLinks->create($given),
        'balances.entries' => iterator_count($client->balances->entries($given)),
        'settlements.statement' => $client->settlements->statement($settlement),
        'call' => $client->call('POST', '/v1/refunds', $given),
    };
}

$tasks = [
    'signing' => fn(array $vector) => bin2hex((new Secret($vector['secret']))->hmac("{$vector['timestamp']}.{$vector['body']}")),
    'messages' => function (array $vector): array {
        ['client_id' => $id, 'method' => $method, 'url' => $url, 'body' => $body, 'created' => $created, 'nonce' => $nonce] = $vector;
        $key = $vector['idempotency_key'] ?? null;
        return array_change_key_case(Client::messageHeaders(new Secret($vector['secret']), $id, $method, $url, $body, $key, $created, $nonce));
    },
    'webhooks' => function (array $vector): string {
        $options = ['now' => $vector['now']] + (isset($vector['prefix']) ? ['prefix' => $vector['prefix']] : []);
        try {
            return 'ok ' . (new Webhooks())->unwrap($vector['body'], $vector['headers'], $vector['secrets'], $options)['id'];
        } catch (WebhookException $error) {
            return $error->step;
        } catch (InvalidArgumentException) {
            return 'secret_missing';
        }
    },
    'handling' => function (array $vector): array {
        $body = '{"id":"evt_01kan3t6b7r9md3kq5x1zc8evw","type":"payment.succeeded"}';
        $headers = (new Webhooks())->sign($body, $vector['delivery'] === 'forged' ? 'whsec_dHdv' : 'whsec_b25l');
        $store = new ScriptedStore($vector['claims'] ?? [], $vector['fails'] ?? null);
        $on = function () use ($store, $vector): void {
            $store->note('on');
            if ($vector['on'] === 'throws') {
                throw new RuntimeException('the queue is away');
            }
        };
        $clock = new StandingClock(0);
        $options = ['log' => fn() => null] + (isset($vector['claims']) ? ['store' => $store] : []);
        $given = $vector['delivery'] === 'without headers' ? [] : $headers;
        $status = (new Webhooks($clock))->handle($body, $given, 'whsec_b25l', $on, $options);
        return ['status' => $status, 'calls' => $store->calls, 'waited_ms' => (int) round(array_sum($clock->waits) * 1000)];
    },
    'retries' => function (array $vector, string $baseUrl): array {
        $clock = new StandingClock($vector['now']);
        $silent = array_map(fn(array $answer) => ($answer['fault'] ?? '') === 'timeout', $vector['answers']);
        $hasVoice = in_array(false, $silent, true);
        $client = new Client(CREDENTIALS + [
            'base_url' => str_replace('INDEX', (string) $vector['index'], $baseUrl),
            'scheme' => $vector['scheme'] ?? 'rfc9421',
            // An answer that does come has to come in time on a busy machine, too.
            'timeout' => in_array(true, $silent, true) ? ($hasVoice ? 1 : 0.1) : 10,
            'time' => $clock,
        ]);
        $deadline = $vector['options']['deadline_ms'] ?? null;
        try {
            $given = called($client, $vector['call'], $deadline === null ? null : $deadline / 1000);
            $result = ['result' => 'ok', 'status' => $given['status'] ?? null];
        } catch (GerbangException $error) {
            // All that a report of this error could hold: its words, its trace with arguments, and what a dump of it shows.
            ob_start();
            var_dump($error);
            $text = $error . print_r($error->getTrace(), true) . @var_export($client, true) . ob_get_clean();
            $told = secretIn($text);
            $result = ['result' => $error->getCode(), 'request_id' => $error->requestId, 'key' => $error->idempotencyKey, 'text' => $told];
            $result += ['attempts' => $error->attempts, 'unknown' => $error->outcomeUnknown, 'advice' => $error->advice];
        }
        $client->close();
        return $result + ['waits_ms' => array_map(fn(float $wait) => (int) round($wait * 1000), $clock->waits)];
    },
    // One call of a service that answers what no API would. Waits take no time, unless the vector wants the time that they take.
    'hostile' => function (array $vector, string $baseUrl): array {
        $client = new Client(CREDENTIALS + [
            'base_url' => str_replace('INDEX', (string) $vector['index'], $baseUrl),
            'timeout' => $vector['timeout'] ?? 10,
            'deadline' => $vector['deadline'] ?? 120,
            'time' => isset($vector['deadline']) ? new Time() : new StandingClock($vector['now']),
        ]);
        $begun = hrtime(true);
        try {
            $result = ['result' => 'ok', 'given' => asked($client, $vector['call'])];
        } catch (GerbangException $error) {
            $result = ['result' => $error->code, 'unknown' => $error->outcomeUnknown, 'message' => $error->getMessage()];
            $result += ['request_id' => $error->requestId, 'details' => $error->details];
        }
        $client->close();
        return $result + ['seconds' => (hrtime(true) - $begun) / 1e9];
    },
    'validation' => function (array $vector): ?array {
        try {
            called(new Client(CREDENTIALS + ['base_url' => 'http://127.0.0.1:9']), $vector['call'], 0.0);
            return null;
        } catch (GerbangException $error) {
            return ['code' => $error->code, 'message' => $error->getMessage()] + $error->details;
        }
    },
    'tls' => function (array $vector, string $baseUrl): string {
        $tls = isset($vector['ca_file']) ? ['cafile' => $vector['ca_file']] : [];
        $client = new Client(CREDENTIALS + ['base_url' => str_replace('INDEX', (string) $vector['index'], $baseUrl), 'tls' => $tls]);
        try {
            return implode(' ', array_map(fn() => $client->health()['status'], range(1, $vector['calls'])));
        } catch (GerbangException $error) {
            return "$error->code " . json_encode($error->retryable);
        }
    },
    'drip' => function (array $vector, string $baseUrl): ?array {
        $begun = hrtime(true);
        $options = ['base_url' => str_replace('INDEX', (string) $vector['index'], $baseUrl), 'timeout' => $vector['timeout'], 'deadline' => 0.5];
        try {
            (new Client(CREDENTIALS + $options))->health();
            return null;
        } catch (GerbangException $error) {
            return ['result' => $error->code, 'seconds' => (hrtime(true) - $begun) / 1e9];
        }
    },
    'injection' => function (array $vector, string $baseUrl): ?string {
        try {
            $client = new Client(CREDENTIALS + ['base_url' => $vector['base_url'] ?? $baseUrl, 'deadline' => 0]);
            $client->call('POST', $vector['path'] ?? '/v1/payments', options: ['idempotency_key' => $vector['key'] ?? null]);
            return null;
        } catch (InvalidArgumentException) {
            return 'refused';
        } catch (GerbangException $error) {
            return $error->code;
        }
    },
];

/** Only whether the secret is in it matters, and a trace is long. */
function secretIn(string $text): string
{
    return str_contains($text, CREDENTIALS['secret']) ? CREDENTIALS['secret'] : 'no secret in ' . strlen($text) . ' bytes';
}

$given = json_decode(stream_get_contents(STDIN), true, 512, JSON_THROW_ON_ERROR);
$results = [];
foreach ($given['vectors'] as $index => $vector) {
    $results[] = $tasks[$given['task']]($vector + ['index' => $index], $given['base_url'] ?? '');
}
echo json_encode($results, JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR);
