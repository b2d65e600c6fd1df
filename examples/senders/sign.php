<?php
function signUserId(string $identityKey, string $userId): string
{
    $digest = hash_hmac('sha256', $userId, $identityKey, binary: true);
    return rtrim(strtr(base64_encode($digest), '+/', '-_'), '=');
}

// Without the line break at the end of a file.
echo signUserId(trim(getenv('CARILLON_IDENTITY_KEY')), 'zoë/42'), "\n";
