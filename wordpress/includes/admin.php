<?php
namespace Carillon;
defined('ABSPATH') || exit;

add_action('admin_menu', function () {
    $page = add_options_page('Carillon', 'Carillon', 'manage_options', 'carillon', __NAMESPACE__ . '\settings_page');
    add_action("load-$page", function () {
        wp_enqueue_script('carillon-settings', plugins_url('scripts/settings.js', FILE), [], VERSION, true);
        wp_localize_script('carillon-settings', 'carillonSettings', [
            'action' => admin_url('admin-ajax.php'),
            'nonce' => wp_create_nonce('carillon_try'),
            'init' => known_project() ? sdk_options() : null,
            'texts' => [
                /* translators: {file}: URL of a script. {line}: a line of code */
                'otherWorker' => __('This site already has the service worker {file}, which gets the notifications. Add this as its first line: {line}', 'carillon'),
                'shown' => __('A notification has arrived in this browser.', 'carillon'),
                'notShown' => __('A notification was sent, and did not arrive within 20 seconds.', 'carillon'),
            ],
        ]);
    });
});

add_filter('plugin_action_links_' . plugin_basename(FILE), function (array $links): array {
    return array_merge([sprintf('<a href="%s">%s</a>', esc_url(admin_url('options-general.php?page=carillon')), esc_html__('Settings', 'carillon'))], $links);
});

add_action('admin_init', function () {
    $text = __('Visitors who turn notifications on are registered with our push service. It stores the address that the maker of their browser gives them for this purpose, keys for encryption, what they have chosen to receive, and the language of the page. Whether a notification was shown and clicked is counted, without a name. All of this is deleted when they turn notifications off.', 'carillon');
    wp_add_privacy_policy_content('Carillon', wp_kses_post(wpautop($text)));
});

add_action('admin_post_carillon_save', function () {
    check_admin_referer('carillon_save');
    if (!current_user_can('manage_options')) {
        wp_die(esc_html__('Sorry, you may not change these settings.', 'carillon'), '', ['response' => 403]);
    }
    $text = fn (string $name): string => sanitize_text_field(wp_unslash($_POST[$name] ?? ''));
    $list = fn (string $name): array => array_map('sanitize_text_field', wp_unslash((array) ($_POST[$name] ?? [])));
    change_settings([
        'types' => array_values(array_intersect($list('types'), post_types())),
        'bell' => $text('bell'),
        'prompt' => isset($_POST['prompt']),
        // A browser has at most 20 channels.
        'categories' => array_slice(array_map('intval', $list('categories')), 0, 20),
        'moving' => isset($_POST['moving']),
    ] + (isset($_POST['baseUrl']) ? ['baseUrl' => clean_address($text('baseUrl'))] : [])
        + (isset($_POST['project']) ? ['project' => $text('project')] : []));
    if ($text('key') !== '') {
        update_option('carillon_key', $text('key'), false);
    }
    if (isset($_POST['confirm'])) {
        confirm_site();
    }
    wp_safe_redirect(admin_url('options-general.php?page=carillon&saved=1'));
    exit;
});

/** The origin of what somebody has typed or pasted. */
function clean_address(string $text): string {
    $parts = wp_parse_url(preg_match('~^https?://~', $text) ? $text : "https://$text") ?: [];
    $host = $parts['host'] ?? '';
    // The key must not travel in clear, but to this machine.
    $scheme = in_array($host, ['localhost', '127.0.0.1'], true) ? $parts['scheme'] : 'https';
    return $host === '' ? '' : "$scheme://$host" . (isset($parts['port']) ? ":{$parts['port']}" : '');
}

function post_types(): array {
    return array_values(array_diff(get_post_types(['public' => true]), ['attachment']));
}

/** Asks the service, and says what is right and what is not: pairs of `ok`, `advice` or `problem`, and a text. */
function findings(): array {
    if (!is_configured()) {
        return [['problem', __('Address, project and key are on the API key card of your project.', 'carillon')]];
    }
    if (!preg_match('/^carillon_(sk|mk)_/', secret_key())) {
        return [['problem', __('This is no key for servers: those begin with carillon_mk_ or carillon_sk_.', 'carillon')]];
    }
    $response = refresh();
    if (!isset($response['body']['applicationServerKey'])) {
        return [['problem', explain($response)]];
    }
    ['name' => $name, 'subscribers' => $subscribers, 'access' => ['role' => $role]] = $response['body'];
    /* translators: 1: name of a project, 2: number of subscribers */
    $findings = [['ok', sprintf(__('Connected to the project “%1$s”, which has %2$s subscribers.', 'carillon'), $name, number_format_i18n($subscribers))]];
    if ($role === 'viewer') {
        $findings[] = ['problem', explain(['status' => 403, 'error' => '', 'body' => ['error' => ['code' => 'not_permitted']]])];
    }
    if ($role === 'owner') {
        $findings[] = ['advice', __('This is the secret key of the project, which can do everything. A member key of the role “sender” is enough, and can be revoked alone: use that one.', 'carillon')];
    }
    if (!is_confirmed()) {
        $findings[] = ['problem', __('Nothing is announced, and visitors see no bell, until you confirm below that this is the right site.', 'carillon')];
    }
    if (!preg_match('~^(https://|http://(localhost|127\.0\.0\.1)([:/]|$))~', get_option('home'))) {
        $findings[] = ['problem', __('The address of this site is not https: browsers have no notifications there.', 'carillon')];
    }
    $minutes = (int) ((time() - min(array_keys(wp_get_ready_cron_jobs()) ?: [time()])) / MINUTE_IN_SECONDS);
    if ($minutes > 10) {
        /* translators: %s: number of minutes */
        $findings[] = ['problem', sprintf(__('WordPress’s cron has not run for %s minutes: posts are announced late. Let a cron job of your server open wp-cron.php each minute.', 'carillon'), number_format_i18n($minutes))];
    }
    return $findings;
}

// The button "Try it": first without a user, for the findings; then with one, to send to.
add_action('wp_ajax_carillon_try', function () {
    check_ajax_referer('carillon_try');
    if (!current_user_can('manage_options')) {
        wp_send_json_error(null, 403);
    }
    $user = sanitize_text_field(wp_unslash($_POST['user'] ?? ''));
    if ($user === '') {
        wp_send_json(['findings' => findings(), 'init' => known_project() ? sdk_options() : null]);
    }
    $title = plain(get_bloginfo('name')) ?: this_site();
    $content = ['title' => $title, 'body' => __('Notifications arrive in this browser.', 'carillon'), 'userIds' => [$user]];
    $response = ask('POST', '/notifications', wp_json_encode($content));
    $problem = trial_problem($response);
    wp_send_json(['findings' => $problem === '' ? [] : [['problem', $problem]]]);
});

/** Why a notification to one browser was not accepted by its push service; '' if it was. */
function trial_problem(array $response): string {
    if ($response['status'] !== 201) {
        return explain($response);
    }
    ['attempted' => $attempted, 'delivered' => $delivered] = $response['body'];
    if ($attempted === 0) {
        return __('Nothing was sent: the service does not know this browser. Try it once more.', 'carillon');
    }
    return $delivered > 0 ? '' : __('The push service of this browser did not accept the notification. Try it once more.', 'carillon');
}

function settings_page(): void {
    $settings = settings();
    $boxes = function (string $name, array $labels, array $on) {
        foreach ($labels as $value => $label) {
            printf('<label><input type="checkbox" name="%s" value="%s"%s> %s</label><br>', esc_attr($name), esc_attr($value), checked(in_array($value, $on, true), true, false), esc_html($label));
        }
    };
    $row = function (string $label, string $hint, callable $print, string $id = '') {
        printf('<tr><th scope="row"><label for="%s">%s</label></th><td>', esc_attr($id), esc_html($label));
        $print();
        printf('<p class="description">%s</p></td></tr>', esc_html($hint));
    };
    $text_row = function (string $id, string $constant, string $label, string $value, string $hint, string $type = 'text') use ($row) {
        /* translators: %s: name of a constant */
        $hint = defined($constant) ? sprintf(__('%s in wp-config.php sets it.', 'carillon'), $constant) : $hint;
        $row($label, $hint, function () use ($id, $type, $value, $constant) {
            printf('<input class="regular-text" type="%s" id="%s" name="%2$s" value="%s" autocomplete="off"%s>', esc_attr($type), esc_attr($id), esc_attr($value), disabled(defined($constant), true, false));
        }, $id);
    };
    // phpcs:ignore WordPress.Security.NonceVerification -- only asks the service.
    $findings = isset($_GET['saved']) ? array_merge([['ok', __('Settings saved.', 'carillon')]], findings()) : [];
    echo '<div class="wrap"><h1>Carillon</h1><div id="carillon-findings" role="status">';
    foreach ($findings as [$level, $text]) {
        $class = ['ok' => 'success', 'advice' => 'warning', 'problem' => 'error'][$level];
        printf('<div class="notice notice-%s inline"><p>%s</p></div>', esc_attr($class), esc_html($text));
    }
    printf('</div><form method="post" action="%s"><input type="hidden" name="action" value="carillon_save">', esc_url(admin_url('admin-post.php')));
    wp_nonce_field('carillon_save');
    echo '<table class="form-table" role="presentation">';
    $text_row('baseUrl', 'CARILLON_BASE_URL', __('Address', 'carillon'), $settings['baseUrl'], 'https://push.example.com');
    $text_row('project', 'CARILLON_PROJECT', __('Project', 'carillon'), $settings['project'], __('Its id is on the API key card.', 'carillon'));
    $key_hint = secret_key() === '' ? __('A member key of the role “sender”.', 'carillon') : __('A key is stored. Leave this empty to keep it.', 'carillon');
    $text_row('key', 'CARILLON_SECRET_KEY', __('Key', 'carillon'), '', $key_hint, 'password');
    if (is_configured() && !is_confirmed()) {
        /* translators: %s: address of a site */
        $hint = $settings['confirmed'] === '' ? '' : sprintf(__('This was set up for %s. If this is a copy of that site, leave it off.', 'carillon'), $settings['confirmed']);
        /* translators: %s: address of a site */
        $row(__('This site', 'carillon'), $hint, fn () => $boxes('confirm', ['1' => sprintf(__('Announce the posts of %s', 'carillon'), this_site())], []));
    }
    $names = array_map(fn (string $type) => get_post_type_object($type)->labels->name, post_types());
    $row(__('Announce', 'carillon'), '', fn () => $boxes('types[]', array_combine(post_types(), $names), $settings['types']));
    $row(__('Bell', 'carillon'), '', function () use ($settings) {
        $places = [
            'corner' => __('In the corner of each page', 'carillon'),
            'shortcode' => __('Where the shortcode [carillon_bell] is', 'carillon'),
            'none' => __('Nowhere', 'carillon'),
        ];
        echo '<select id="bell" name="bell">';
        foreach ($places as $value => $label) {
            printf('<option value="%s"%s>%s</option>', esc_attr($value), selected($settings['bell'], $value, false), esc_html($label));
        }
        echo '</select>';
    }, 'bell');
    $row(__('Question', 'carillon'), '', fn () => $boxes('prompt', [1 => __('Ask visitors on the page, after 20 seconds', 'carillon')], [(int) $settings['prompt']]));
    $hint = __('Visitors choose from these, and a post goes to those who have chosen one of its categories. Without any, every post goes to everyone.', 'carillon');
    $names = get_categories(['hide_empty' => false, 'fields' => 'id=>name']);
    $row(__('Categories', 'carillon'), $hint, fn () => $boxes('categories[]', $names, $settings['categories']));
    $hint = __('They are not asked again. Deactivate the other plugin first.', 'carillon');
    $row(__('Moving', 'carillon'), $hint, fn () => $boxes('moving', [1 => __('Take over visitors who have allowed notifications of another plugin', 'carillon')], [(int) $settings['moving']]));
    echo '</table><p class="submit">';
    submit_button(null, 'primary', 'submit', false);
    printf(' <button type="button" class="button" id="carillon-try">%s</button> ', esc_html__('Try it', 'carillon'));
    printf('<span class="description">%s</span></p></form></div>', esc_html__('Subscribes this browser, and sends it a notification.', 'carillon'));
}
