<?php
namespace Carillon;
defined('ABSPATH') || exit;

/** Why a post was not announced. */
function reasons(): array {
    return [
        'import' => __('Not announced: it was imported.', 'carillon'),
        'bulk' => __('Not announced: it was published by a bulk edit.', 'carillon'),
        'old' => __('Not announced: its date is more than a day ago.', 'carillon'),
        'password' => __('Not announced: it has a password.', 'carillon'),
        'private' => __('Not announced: it is private.', 'carillon'),
        'offline' => __('Not announced: it was taken offline before.', 'carillon'),
        'off' => __('Not announced, as chosen here.', 'carillon'),
        'copy' => __('Not announced: this site is not the one for which Carillon was set up, or not in production. Confirm it in Settings, Carillon.', 'carillon'),
        'category' => __('Not announced: visitors can choose none of its categories.', 'carillon'),
        'filter' => __('Not announced: the theme or another plugin has decided so.', 'carillon'),
    ];
}

/** What became of the announcement of a post, or what will. */
function status_text(\WP_Post $post): string {
    $record = record($post->ID);
    $due = wp_next_scheduled(ATTEMPT, [$post->ID]);
    $is_unclear = isset($record['unclear']);
    switch ($record['state']) {
        case 'waiting':
            if (!$due || $record['failures'] === 0) {
                $lost = $is_unclear ? __('It may have been announced: WordPress has lost the cron event for the next attempt.', 'carillon') : __('Not announced: WordPress has lost the cron event for it.', 'carillon');
                return $due ? __('Waiting for WordPress’s cron, which sends it.', 'carillon') : $lost;
            }
            /* translators: 1: what went wrong, 2: time */
            $text = $is_unclear ? __('It may have been announced. %1$s The next attempt is at %2$s.', 'carillon') : __('Not announced yet. %1$s The next attempt is at %2$s.', 'carillon');
            return sprintf($text, $record['message'], wp_date(get_option('time_format'), $due));
        case 'sending':
            return __('It is being delivered.', 'carillon');
        case 'sent':
            return sent_text($record['counts']);
        case 'failed':
            /* translators: %s: what went wrong */
            return sprintf($is_unclear ? __('It may have been announced. %s', 'carillon') : __('Not announced. %s', 'carillon'), $record['message']);
        case 'none':
            return reasons()[$record['reason']] . ($is_unclear ? ' ' . __('An attempt before may have announced it.', 'carillon') : '');
    }
    if (!is_configured()) {
        return __('Carillon is not set up: see Settings, Carillon.', 'carillon');
    }
    if ($post->post_status === 'publish') {
        return __('Not announced. Updates of a published post are not.', 'carillon');
    }
    $reason = $post->post_status === 'private' ? 'private' : (is_opted_out($post->ID) ? 'off' : '');
    return $reason ? reasons()[$reason] : __('It will be announced when it is published.', 'carillon');
}

function sent_text(array $counts): string {
    if (!isset($counts['attempted'])) {
        return __('Announced. The console of Carillon has the counts.', 'carillon');
    }
    $others = $counts['failed'] + ($counts['unreached'] ?? 0);
    if ($counts['attempted'] + $others === 0) {
        return __('Announced, but nobody is subscribed to it yet.', 'carillon');
    }
    /* translators: %s: number of browsers */
    $text = sprintf(__('Announced to %s.', 'carillon'), number_format_i18n($counts['delivered']));
    /* translators: %s: number of browsers */
    return $others === 0 ? $text : $text . ' ' . sprintf(__('Not reached: %s.', 'carillon'), number_format_i18n($others));
}

function may_announce(\WP_Post $post): bool {
    return current_user_can('edit_post', $post->ID) && current_user_can(get_post_type_object($post->post_type)->cap->publish_posts);
}

/** What the editor shows: `off` (the choice), `text`, whether it is `busy`, and the text of a `button` or none. */
function editor_view(\WP_Post $post): array {
    $record = record($post->ID);
    $state = $record['state'];
    $is_busy = in_array($state, ['waiting', 'sending'], true) && wp_next_scheduled(ATTEMPT, [$post->ID]);
    $has_button = !$is_busy && is_configured() && in_array($post->post_status, ['publish', 'private'], true) && may_announce($post);
    $button = $state === 'sent' || isset($record['unclear']) ? __('Announce again', 'carillon') : __('Announce now', 'carillon');
    return [
        'off' => is_opted_out($post->ID),
        'text' => status_text($post),
        'busy' => (bool) $is_busy,
        'button' => $has_button ? $button : '',
    ];
}

// In one request with the post, so that the choice is stored when it is published. Meta boxes of the block editor come later.
add_action('rest_api_init', function () {
    register_rest_field(settings()['types'], 'carillon', [
        'get_callback' => fn (array $post) => editor_view(get_post($post['id'])),
        'update_callback' => function (array $value, \WP_Post $post) {
            if (isset($value['off'])) {
                opt_out($post->ID, $value['off']);
            }
            if (!empty($value['announce']) && !may_announce($post)) {
                return new \WP_Error('rest_forbidden', __('Sorry, you may not announce this post.', 'carillon'), ['status' => 403]);
            }
            return empty($value['announce']) || announce($post);
        },
        'schema' => [
            'type' => 'object',
            'context' => ['edit'],
            'properties' => ['off' => ['type' => 'boolean'], 'announce' => ['type' => 'boolean']],
        ],
    ]);
});

add_action('enqueue_block_editor_assets', function () {
    $screen = get_current_screen();
    if ($screen && $screen->base === 'post' && in_array($screen->post_type, settings()['types'], true)) {
        $needs = ['wp-api-fetch', 'wp-components', 'wp-data', 'wp-edit-post', 'wp-element', 'wp-plugins'];
        wp_enqueue_script('carillon-editor', plugins_url('scripts/editor.js', FILE), $needs, VERSION, true);
        wp_localize_script('carillon-editor', 'carillonTexts', editor_texts());
    }
});

function editor_texts(): array {
    return [
        'off' => __('Do not announce it', 'carillon'),
        'question' => __('Send a notification to the subscribers now?', 'carillon'),
    ];
}

// The classic editor.
add_action('add_meta_boxes', function () {
    $types = settings()['types'] ?: ['none'];
    add_meta_box('carillon', 'Carillon', __NAMESPACE__ . '\meta_box', $types, 'side', 'default', ['__back_compat_meta_box' => true]);
});

function meta_box(\WP_Post $post): void {
    $view = editor_view($post);
    wp_nonce_field('carillon_box', 'carillon_nonce');
    ?>
    <p><?php echo esc_html($view['text']); ?></p>
    <?php if ($post->post_status !== 'publish') : ?>
        <input type="hidden" name="carillon_choice" value="1">
        <label><input type="checkbox" name="carillon_off" <?php checked($view['off']); ?>>
            <?php echo esc_html(editor_texts()['off']); ?></label>
    <?php endif; ?>
    <?php if ($view['button']) : ?>
        <button class="button" name="carillon_announce" value="1" onclick="return confirm(<?php echo esc_attr(wp_json_encode(editor_texts()['question'])); ?>)">
            <?php echo esc_html($view['button']); ?></button>
    <?php endif;
}

add_action('save_post', function (int $id, \WP_Post $post) {
    $nonce = sanitize_key($_POST['carillon_nonce'] ?? '');
    $is_sent = wp_verify_nonce($nonce, 'carillon_box') && $post->post_type !== 'revision' && current_user_can('edit_post', $id);
    if ($is_sent && isset($_POST['carillon_choice'])) {
        opt_out($id, isset($_POST['carillon_off']));
    }
    if ($is_sent && isset($_POST['carillon_announce']) && may_announce($post)) {
        announce($post);
    }
}, 10, 2);

// A failure must not hide in one post.
add_action('admin_notices', function () {
    $failed = current_user_can('publish_posts') ? (array) get_option('carillon_failed', []) : [];
    foreach (array_filter(array_map('get_post', $failed)) as $post) {
        printf('<div class="notice notice-error"><p>Carillon, <a href="%s">%s</a>: %s ', esc_url(get_edit_post_link($post)), esc_html(get_the_title($post) ?: $post->ID), esc_html(status_text($post)));
        $dismiss = wp_nonce_url(admin_url("admin-post.php?action=carillon_dismiss&post=$post->ID"), 'carillon_dismiss');
        printf('<a href="%s">%s</a></p></div>', esc_url($dismiss), esc_html__('Dismiss', 'carillon'));
    }
});

add_action('admin_post_carillon_dismiss', function () {
    check_admin_referer('carillon_dismiss');
    if (current_user_can('publish_posts')) {
        $failed = array_diff((array) get_option('carillon_failed', []), [absint($_GET['post'] ?? 0)]);
        update_option('carillon_failed', array_values($failed), false);
    }
    wp_safe_redirect(wp_get_referer() ?: admin_url());
    exit;
});
