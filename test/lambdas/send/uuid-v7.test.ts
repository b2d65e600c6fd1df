import { randomBytes } from 'node:crypto';
import { notificationIdSchema } from '../../../contract/wire/fields.ts';
import { uuidV7 } from '../../../lambdas/send/sending.ts';

test('the example of RFC 9562, appendix A.6, is reproduced', () => {
  // rand_a is 0xCC3 and rand_b 0x18C4DC0C0C07398F; the version and the variant overwrite the other bits.
  const random = Buffer.from('0cc318c4dc0c0c07398f', 'hex');
  const id = uuidV7(new Date(0x017f22e279b0), () => random);
  expect(id).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
});

test('ids are valid, and in the order of their time', () => {
  const ids = [1, 2, 3].map((second) => uuidV7(new Date(1_800_000_000_000 + second), randomBytes));
  for (const id of ids) expect(notificationIdSchema.safeParse(id).success).toBe(true);
  expect(ids).toEqual([...ids].sort());
});

test('74 bits are random', () => {
  const time = new Date(1_800_000_000_000);
  const bits = (fill: number) =>
    BigInt(`0x${uuidV7(time, (length) => Buffer.alloc(length, fill)).replaceAll('-', '')}`);
  const different = (bits(0) ^ bits(0xff)).toString(2).replaceAll('0', '');
  expect(different).toHaveLength(74);
});
