<?php
// Receives webhooks with Laravel: verified over their raw bytes, kept once, answered at once. `php artisan queue:work database` works them off.

namespace App\Http\Controllers;

use App\Jobs\FulfilOrder;
use Gerbang\Webhooks;
use Gerbang\WebhookException;
use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Log;
use Illuminate\Support\Facades\Queue;

class GerbangWebhookController
{
    private const PAYMENTS = [
        'payment.created', 'payment.processing', 'payment.succeeded', 'payment.failed', 'payment.expired', 'payment.canceled',
    ];

    public function __invoke(Request $request): Response
    {
        try { // the bytes as they came, never $request->all()
            $event = (new Webhooks())->unwrap($request->getContent(), $request->headers->all(), config('services.gerbang.webhook_secrets'));
        } catch (WebhookException $error) {
            Log::warning("webhook: $error->step");
            return new Response('', 401);
        }
        if (in_array($event['type'], self::PAYMENTS, true)) { // types that you do not know are answered with 2xx, too
            DB::transaction(fn() => $this->keep($event), attempts: 3);
        }
        return new Response('', 200);
    }

    /** In one transaction: the event is known, the payment is as it says, and the work is queued; or nothing of all that, and it comes again. */
    private function keep(array $event): void
    {
        ['id' => $id, 'type' => $type, 'created_at' => $createdAt, 'data' => $data] = $event;
        if (DB::table('gerbang_events')->insertOrIgnore(['id' => $id, 'kept_at' => now()]) === 0) {
            return; // known: the unique key decides, not a look beforehand
        }
        $key = ['reference' => $data['reference']];
        DB::table('gerbang_payments')->insertOrIgnore([...$key, 'order_id' => $data['reference_id'], 'status' => '', 'version' => '']);
        $rank = ['pending' => 0, 'processing' => 1][$data['status']] ?? 2; // what is over stays over, whatever the clocks say
        $version = "$rank $createdAt $id"; // within a second, ids are in the order of the events
        $state = ['status' => $data['status'], 'version' => $version];
        $isNewer = DB::table('gerbang_payments')->where($key)->where('version', '<', $version)->update($state) === 1;
        if ($isNewer && $type === 'payment.succeeded') {
            // The queue in the database, of the same connection: it commits with the rest.
            Queue::connection('database')->push(new FulfilOrder($data['reference_id']));
        }
    }
}
