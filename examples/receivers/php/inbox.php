<?php
// What a receiver keeps, in SQLite: the events it knows, the newest state of each payment, and the work that is to be done. In your shop these are
// three tables beside your orders. `php worker.php` does what is queued.

declare(strict_types=1);

/** The database, with its tables. */
function inbox(): PDO
{
    $database = new PDO('sqlite:' . (getenv('INBOX') ?: __DIR__ . '/inbox.sqlite'), null, null, [PDO::ATTR_TIMEOUT => 5]);
    $database->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
    $database->exec('create table if not exists events (id text primary key, kept_at integer not null)');
    $columns = 'reference text primary key, order_id text not null, status text not null, version text not null';
    $database->exec("create table if not exists payments ($columns)");
    $database->exec('create table if not exists jobs (id integer primary key, order_id text not null, due_at integer not null)');
    return $database;
}

/** Runs one statement; gives it, for its rows and how many it changed. */
function run(PDO $database, string $sql, array $values): PDOStatement
{
    $statement = $database->prepare($sql);
    $statement->execute($values);
    return $statement;
}

/**
 * Keeps an event of a payment, in one transaction: it is known, the payment is as it says, and the work is queued; or nothing of all that, and the
 * event comes again. An event that is known, or older than what is known of the payment, changes nothing.
 */
function keep(array $event): void
{
    ['id' => $id, 'type' => $type, 'created_at' => $createdAt, 'data' => $data] = $event;
    $rank = ['pending' => 0, 'processing' => 1][$data['status']] ?? 2; // what is over stays over, whatever the clocks say
    $version = "$rank $createdAt $id"; // within a second, ids are in the order of the events
    $database = inbox();
    $database->exec('begin immediate'); // an error ends the connection, which rolls back
    $isNew = run($database, 'insert into events values (?, ?) on conflict do nothing', [$id, time()])->rowCount() > 0;
    $update = 'insert into payments values (?, ?, ?, ?) on conflict (reference) do update'
        . ' set status = excluded.status, version = excluded.version where excluded.version > payments.version';
    $state = [$data['reference'], $data['reference_id'], $data['status'], $version];
    if ($isNew && run($database, $update, $state)->rowCount() > 0 && $type === 'payment.succeeded') {
        run($database, 'insert into jobs (order_id, due_at) values (?, ?)', [$data['reference_id'], time()]);
    }
    $database->exec('commit');
}

/** Does what is queued, for ever. What fails, or a crash interrupts, is done again after a minute: let `$fulfil` bear that. */
function work(callable $fulfil): never
{
    for ($database = inbox(); ; ) {
        $oldest = 'select id from jobs where due_at <= ? order by due_at, id limit 1';
        $claim = "update jobs set due_at = ? where id = ($oldest) returning id, order_id";
        $job = run($database, $claim, [time() + 60, time()])->fetchAll(PDO::FETCH_ASSOC)[0] ?? null;
        if ($job === null) {
            usleep(200_000);
            continue;
        }
        try {
            $fulfil($job['order_id']);
            run($database, 'delete from jobs where id = ?', [$job['id']]);
        } catch (Throwable $error) {
            fwrite(STDERR, "order {$job['order_id']} is not fulfilled yet: {$error->getMessage()}\n");
        }
    }
}
