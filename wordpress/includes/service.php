<?php
namespace Carillon;
defined('ABSPATH') || exit;

/**
 * Makes a request to the service.
 *
 * @return array `status` (0 without a response), `body`, `retryAfter` (seconds), `error` (why there is no response).
 */
function ask(string $method, string $path, ?string $body = null, array $headers = []): array {
    ['baseUrl' => $base_url, 'project' => $project] = settings();
    $response = wp_remote_request("$base_url/api/v1/projects/" . rawurlencode($project) . $path, [
        'method' => $method,
        'timeout' => $body === null ? 10 : 30,
        // The key would go to the other address.
        'redirection' => 0,
        'headers' => ['Authorization' => 'Bearer ' . secret_key(), 'Content-Type' => 'application/json'] + $headers,
        'body' => $body,
    ]);
    $decoded = json_decode(wp_remote_retrieve_body($response), true);
    return [
        'status' => (int) wp_remote_retrieve_response_code($response),
        'body' => is_array($decoded) ? $decoded : [],
        'retryAfter' => (int) wp_remote_retrieve_header($response, 'retry-after'),
        'error' => is_wp_error($response) ? $response->get_error_message() : '',
    ];
}

/** Whether the same request may succeed later. */
function is_transient(array $response): bool {
    $is_cap = ($response['body']['error']['code'] ?? '') === 'send_cap_reached';
    return !$is_cap && (in_array($response['status'], [0, 409, 429], true) || $response['status'] >= 500);
}

/** Whether the service may have done what was asked: the request has left, and the service does not say that it refused. Of a success, the response could not be read. */
function is_unclear(array $response): bool {
    $is_unsent = preg_match('/cURL error (6|7|35|60)\b/', $response['error']);
    $is_refused = ($response['body']['error']['code'] ?? '') === 'unavailable';
    $is_success = in_array($response['status'], [201, 202], true);
    return $response['status'] === 0 ? !$is_unsent : $is_success || ($response['status'] >= 500 && !$is_refused);
}

/** What went wrong, and what to do. */
function explain(array $response): string {
    ['baseUrl' => $base_url, 'project' => $project] = settings();
    ['status' => $status, 'body' => $body, 'error' => $error] = $response;
    $code = $body['error']['code'] ?? '';
    $texts = [
        /* translators: %s: name of a project */
        'unauthorized' => sprintf(__('The service does not accept this key for the project “%s”. Copy project and key again: the key may be of another project, expired or revoked.', 'carillon'), $project),
        'not_permitted' => __('This key may only read. Ask for a member key of the role “sender”.', 'carillon'),
        'send_cap_reached' => __('The project has used up its notifications of this month. Whoever runs the service can raise the cap.', 'carillon'),
    ];
    if ($code !== '') {
        if ($status >= 500) {
            /* translators: %s: message of the service */
            return sprintf(__('The service responds: %s', 'carillon'), $body['error']['message']);
        }
        $issues = array_map(fn ($issue) => "{$issue['path']}: {$issue['message']}", $body['error']['issues'] ?? []);
        /* translators: %s: message of the service */
        return $texts[$code] ?? sprintf(__('The service refuses it: %s', 'carillon'), implode(' ', array_merge([$body['error']['message']], $issues)));
    }
    return $status === 0
        /* translators: 1: address, 2: reason */
        ? sprintf(__('%1$s does not respond: %2$s. Check the address, and whether your web server may reach it.', 'carillon'), $base_url, rtrim($error, '.'))
        /* translators: 1: address, 2: status of the response */
        : sprintf(__('%1$s responds with status %2$d, and not as Carillon does. Check the address.', 'carillon'), $base_url, $status);
}
