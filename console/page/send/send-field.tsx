import { ButtonFields } from './button-fields.tsx';
import { CheckField, TextField } from './controls.tsx';
import { type FieldName, fields } from './fields.ts';
import { useForm } from './form-context.ts';

/** The control of a field of send. */
export function SendField({ name }: { readonly name: FieldName }) {
  const { form, change } = useForm();
  const { label, hint } = fields[name];
  const value = form[name];
  if (typeof value === 'string') {
    return <TextField path={name} value={value} onChange={(text) => change({ [name]: text })} />;
  }
  if (typeof value !== 'boolean') return <ButtonFields />;
  return (
    <CheckField
      path={name}
      label={label}
      hint={hint}
      checked={value}
      onChange={(checked) => change({ [name]: checked })}
    />
  );
}
