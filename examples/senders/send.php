<?php
function send(array $notification, ?string $idempotencyKey = null): array
{
    $request = curl_init(rtrim(getenv('CARILLON_BASE_URL'), '/') . '/api/v1/projects/' . getenv('CARILLON_PROJECT') . '/notifications');
    curl_setopt_array($request, [
        CURLOPT_HTTPHEADER => [
            // Without the line break at the end of a file.
            'Authorization: Bearer ' . preg_replace('/\s/', '', getenv('CARILLON_SECRET_KEY')),
            'Content-Type: application/json',
            'Idempotency-Key: ' . ($idempotencyKey ?? bin2hex(random_bytes(16))),
        ],
        CURLOPT_POSTFIELDS => json_encode($notification, JSON_THROW_ON_ERROR),
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 35,
    ]);
    for ($attempt = 0; ; $attempt++) {
        $body = curl_exec($request);
        // 0 if there was no response.
        $status = $body === false ? 0 : curl_getinfo($request, CURLINFO_RESPONSE_CODE);
        if ($status >= 200 && $status < 300) {
            return json_decode($body, true, flags: JSON_THROW_ON_ERROR);
        }
        $retryAfter = curl_getinfo($request, CURLINFO_RETRY_AFTER);
        $transient = in_array($status, [0, 409, 429]) || $status >= 500;
        $isCap = str_contains((string) $body, 'send_cap_reached');
        if (!$transient || $isCap || $retryAfter > 60 || $attempt === 5) {
            throw new RuntimeException($body === false ? curl_error($request) : "$status: $body");
        }
        usleep((int) (1e6 * ($retryAfter + 2 ** $attempt * random_int(500, 1000) / 1000)));
    }
}

echo json_encode(send(['title' => 'Doors open at eight', 'body' => 'Your seat is 14C.'])), "\n";
