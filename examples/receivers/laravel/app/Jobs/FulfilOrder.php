<?php
// What is to be done for an order that was paid. It may run twice, after a crash: let it bear that.

namespace App\Jobs;

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Queue\InteractsWithQueue;

class FulfilOrder implements ShouldQueue
{
    use InteractsWithQueue, Queueable;

    public int $tries = 25;
    public int $backoff = 60;

    public function __construct(public string $order)
    {
    }

    public function handle(): void
    {
        print("paid: $this->order\n"); // in your shop: fulfil it
    }
}
