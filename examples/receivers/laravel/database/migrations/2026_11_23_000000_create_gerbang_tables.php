<?php
// The events that the receiver knows, and the newest state of each payment. The queue's own table: `php artisan queue:table`.

use Illuminate\Database\Migrations\Migration;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Support\Facades\Schema;

return new class extends Migration {
    public function up(): void
    {
        Schema::create('gerbang_events', function (Blueprint $table) {
            $table->string('id', 60)->primary();
            $table->timestamp('kept_at');
        });
        Schema::create('gerbang_payments', function (Blueprint $table) {
            $table->string('reference', 60)->primary();
            $table->string('order_id', 100);
            $table->string('status', 30);
            $table->string('version', 100);
        });
    }

    public function down(): void
    {
        Schema::dropIfExists('gerbang_payments');
        Schema::dropIfExists('gerbang_events');
    }
};
