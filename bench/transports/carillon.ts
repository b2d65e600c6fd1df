import { pushTransport } from '../../lambdas/push/transport/transport.ts';
import { serve } from '../sender-process.ts';
import { transportSender } from '../transport-sender.ts';

serve(transportSender(({ ca, inFlight }) => pushTransport({ limit: inFlight, ca })));
