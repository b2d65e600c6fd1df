import base64, hashlib, hmac, os

def sign_user_id(identity_key, user_id):
    digest = hmac.new(identity_key.encode(), user_id.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

# Without the line break at the end of a file.
print(sign_user_id(os.environ["CARILLON_IDENTITY_KEY"].strip(), "zoë/42"))
