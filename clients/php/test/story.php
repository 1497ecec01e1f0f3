<?php
// A merchant's whole day with a running service; prints what came of it as JSON. GERBANG_* say with whom, CUT_BASE_URL is a proxy that cuts.

declare(strict_types=1);

use Gerbang\{Client, EventStore, GerbangException, Time, WebhookException, Webhooks};

require __DIR__ . '/../Gerbang.php';

set_error_handler(function (int $level, string $message, string $file, int $line): bool {
    return (error_reporting() & $level) === 0 ? true : throw new ErrorException($message, 0, $level, $file, $line);
});

/** The machine's clock, and a part of each wait. */
final class FastClock extends Time
{
    public function __construct(private int $part = 20)
    {
    }

    public function sleep(float $seconds): void
    {
        parent::sleep($seconds / $this->part);
    }
}

function client(array $options = []): Client
{
    return new Client($options + ['time' => new FastClock()]);
}

function codeOf(callable $work): string
{
    try {
        return $work()['status'] ?? 'ok';
    } catch (GerbangException $error) {
        return $error->code;
    }
}

function order(string $name, array $changes = []): array
{
    return $changes + ['amount_minor' => 7_500_000, 'currency' => 'IDR', 'payment_method' => 'qris', 'reference_id' => "php-$name"];
}

/** What each of so many processes gives. */
function inProcesses(int $count, callable $work): array
{
    $folder = sys_get_temp_dir() . '/gerbang-php-' . bin2hex(random_bytes(6));
    mkdir($folder, 0700);
    $children = [];
    for ($n = 0; $n < $count; $n++) {
        $child = pcntl_fork();
        if ($child === 0) {
            file_put_contents("$folder/$n", $work($n));
            exit(0);
        }
        $children[] = $child;
    }
    foreach ($children as $child) {
        pcntl_waitpid($child, $status);
    }
    $results = array_map(fn(int $n) => (string) @file_get_contents("$folder/$n"), range(0, $count - 1));
    array_map('unlink', glob("$folder/*"));
    rmdir($folder);
    return $results;
}

$facts = [];
$gerbang = client();
$facts['health'] = $gerbang->health()['status'];
ob_start();
var_dump($gerbang);
$facts['shown'] = str_contains(ob_get_clean() . print_r($gerbang, true) . @var_export($gerbang, true), getenv('GERBANG_SECRET'));
$begin = $gerbang->sandbox->events->listen(['wait' => 0])['next_after'];

// Payments and refunds.
$created = $gerbang->payments->create(order('first', ['metadata' => ['catatan' => 'kopi é ☕'], 'description' => null]));
$facts['created'] = [$created['status'], $created['instructions']['type'], $created['metadata']['catatan']];
$reference = $created['reference'];
$facts['simulated'] = $gerbang->sandbox->payments->simulate($reference, 'succeeded')['status'];
$facts['waited'] = $gerbang->payments->waitFor($reference, 'succeeded', ['timeout' => 5])['status'];
$facts['never'] = codeOf(fn() => $gerbang->payments->waitFor($reference, 'expired', ['timeout' => 5]));
foreach (['second', 'third'] as $name) {
    $gerbang->sandbox->payments->simulate($gerbang->payments->create(order($name, ['metadata' => []]))['reference'], 'succeeded');
}
$refund = $gerbang->refunds->create(['payment_reference' => $reference, 'amount_minor' => 2_500_000, 'reason' => 'satu gelas tumpah']);
$facts['refunded'] = [$refund['status'], $refund['remaining_refundable_minor'], $gerbang->refunds->get($refund['uuid'])['status']];
$facts['refunds'] = iterator_count($gerbang->refunds->list(['payment_reference' => $reference]));
try {
    $gerbang->refunds->create(['payment_reference' => $reference, 'amount_minor' => 7_500_000]);
} catch (GerbangException $error) {
    $facts['too much'] = [$error->getCode(), $error->status, $error->retryable, $error->details['remaining_refundable_minor']];
}
$facts['twice'] = codeOf(fn() => $gerbang->payments->create(order('first')));
$facts['found'] = $gerbang->payments->createOrFind(order('first'))['reference'] === $reference;
$facts['another amount'] = codeOf(fn() => $gerbang->payments->createOrFind(order('first', ['amount_minor' => 1])));
$facts['canceled'] = $gerbang->payments->cancel($gerbang->payments->create(order('canceled'))['reference'], ['reason' => 'habis'])['status'];
$facts['review'] = codeOf(fn() => $gerbang->payments->create(order('review', ['customer' => ['email' => 'ann@review.test']])));
$review = order('review-too', ['customer' => ['email' => 'ann@review.test']]);
$facts['review found'] = $gerbang->payments->createOrFind($review)['status'];
$once = order('once', ['metadata' => ['sandbox.scenario' => 'gateway_error_once']]);
$facts['passing error'] = $gerbang->payments->create($once)['status'];
$facts['malformed id'] = [
    codeOf(fn() => $gerbang->payments->get('../balances')),
    codeOf(fn() => $gerbang->payments->get('pay_' . str_repeat('0', 26))),
];
$listed = iterator_to_array($gerbang->payments->list(['limit' => 2, 'status' => 'succeeded']), false);
$facts['listed'] = array_column($listed, 'reference_id');
$facts['page'] = count($gerbang->payments->page(['limit' => 1])['data']);
$facts['unknown field'] = codeOf(fn() => $gerbang->payments->create(order('unknown', ['colour' => 'red'])));

// Equal requests by the interface's scheme: none is sent twice, since each has a timestamp of its own.
$told = [];
$byStamp = client(['scheme' => 'timestamp', 'log' => function (array $attempt) use (&$told): void {
    $told[] = $attempt;
}]);
for ($n = 0; $n < 10; $n++) {
    $byStamp->balances->get();
    codeOf(fn() => $byStamp->payments->cancel($reference));
}
$firsts = array_filter($told, fn(array $one) => $one['attempt'] === 1);
$facts['same second'] = [count($told), count($firsts), str_contains(json_encode($told), getenv('GERBANG_SECRET'))];

// Money.
[$balance] = array_values(array_filter($gerbang->balances->get()['data'], fn($entry) => $entry['currency'] === 'IDR'));
$entries = iterator_to_array($gerbang->balances->entries('IDR', ['limit' => 2]), false);
$facts['entries'] = array_sum(array_column($entries, 'amount_minor')) === $balance['available_minor'];
$second = $gerbang->payments->list(['reference_id' => 'php-second'])->current()['reference'];
$dispute = $gerbang->sandbox->payments->dispute($second, ['reason' => 'product_not_received']);
$status = $gerbang->disputes->get($dispute['uuid'])['status'];
$facts['dispute'] = [$status, $gerbang->sandbox->disputes->resolve($dispute['uuid'], 'won')['status']];
$facts['disputes'] = iterator_count($gerbang->disputes->list());
[$batch] = $gerbang->sandbox->settlements->run()['data'];
$facts['settled'] = $gerbang->sandbox->settlements->pay($batch['uuid'])['status'];
$facts['settlements'] = array_column(iterator_to_array($gerbang->settlements->list(), false), 'status');
$facts['settlements'][] = $gerbang->settlements->get($batch['uuid'])['status'];
$statement = explode("\r\n", trim($gerbang->settlements->statement($batch['uuid'])));
$total = end($statement);
$facts['statement'] = [explode(',', $statement[0])[0], explode(',', $total)[0], str_contains($total, (string) $batch['net_minor'])];
$links = $gerbang->paymentLinks;
$link = $links->create(['currency' => 'IDR', 'reusable' => true, 'description' => 'Tip']);
$facts['link'] = [$link['status'], $links->get($link['uuid'])['status'], $links->deactivate($link['uuid'])['status']];
$facts['links'] = iterator_count($links->list());

// Events.
$heard = $gerbang->sandbox->events->listen(['after' => $begin, 'wait' => 2])['data'];
$secret = getenv('GERBANG_WEBHOOK_SECRET');
$store = new class implements EventStore {
    public array $seen = [];

    public function claim(string $id): bool|string
    {
        $isNew = !isset($this->seen[$id]);
        $this->seen[$id] = true;
        return $isNew;
    }

    public function done(string $id): void
    {
    }

    public function release(string $id): void
    {
    }
};
$options = ['store' => $store];
$unwrapped = array_map(fn($one) => $gerbang->webhooks->unwrap($one['body'], $one['headers'], ['whsec_b2xk', $secret], $options), $heard);
$facts['heard'] = [$unwrapped[0]['type'], $unwrapped[1]['type'], count($store->seen) === count($heard)];
$facts['heard again'] = $gerbang->webhooks->unwrap($heard[0]['body'], $heard[0]['headers'], $secret, $options);
try {
    $gerbang->webhooks->unwrap(str_replace('7500000', '7500001', $heard[0]['body']), $heard[0]['headers'], $secret);
} catch (WebhookException $error) {
    $facts['tampered'] = $error->step;
}
$server = [];
foreach ((new Webhooks())->sign($heard[0]['body'], $secret) as $name => $value) {
    $server['HTTP_' . strtr(strtoupper($name), '-', '_')] = $value;
}
$facts['own'] = (new Webhooks())->unwrap($heard[0]['body'], $server, $secret)['id'] === $heard[0]['id'];
$facts['doctor'] = $gerbang->sandbox->webhook->doctor(['headers' => $heard[0]['headers'], 'body' => $heard[0]['body']])['diagnosis'];
$event = $gerbang->events->list(['type' => 'payment.succeeded'])->current();
$facts['event'] = [$gerbang->events->get($event['id'])['type'], iterator_count($gerbang->events->deliveries($event['id']))];
$webhook = $gerbang->sandbox->webhook;
$facts['misbehave'] = [$webhook->misbehave('delay', 1)['mode'], $webhook->misbehaviour()['mode'], $webhook->misbehave('none')['mode']];
$facts['resent by name'] = codeOf(fn() => $gerbang->events->resendMany([$event['id']])); // no address is registered
$requests = $gerbang->sandbox->requests;
$log = $requests->list(['limit' => 1])->current();
$facts['log'] = $log['method'];
$facts['one request'] = $requests->get($log['request_id'])['path'] === $log['path'];
$clock = $gerbang->sandbox->clock;
$facts['clock'] = $clock->advance(60)['offset_seconds'] === $clock->get()['offset_seconds'];
try {
    client(['secret' => 'sk_test_of_somebody_else'])->balances->get();
} catch (GerbangException $error) {
    $facts['stranger'] = [$error->code, $gerbang->sandbox->requests->doctor($error->requestId)['diagnosis']];
}

// Lost answers.
$cut = client(['base_url' => getenv('CUT_BASE_URL'), 'time' => new FastClock(200)]);
$facts['lost once'] = $cut->payments->create(order('cut-once'))['reference_id'];
$facts['lost always'] = $cut->payments->createOrFind(order('cut-always'))['reference_id'];
try {
    $cut->payments->create(order('cut-always-too'));
} catch (GerbangException $error) {
    $facts['lost and thrown'] = [$error->code, $error->retryable, $error->outcomeUnknown, strlen($error->idempotencyKey)];
}

// Many at once.
$made = inProcesses(100, fn(int $n) => $gerbang->payments->create(order("many-$n"))['reference']);
$facts['a hundred at once'] = count(array_unique(array_filter($made)));
$reference = $gerbang->payments->create(order('forty'))['reference'];
$outcomes = inProcesses(40, fn() => codeOf(fn() => client(['scheme' => 'timestamp'])->payments->cancel($reference)));
$facts['forty processes'] = array_count_values($outcomes);

echo json_encode($facts, JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR);
