//! Texts beside those that Arrow's own casts write, and typed cells beside those that they read.

use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, DictionaryArray, Int8Array, PrimitiveArray, StringArray,
};
use arrow_buffer::i256;
use arrow_cast::{CastOptions, cast_with_options};
use proptest::prelude::*;

use super::*;
use arrow_schema::TimeUnit;

fn by_arrow(column: &dyn Array, kind: &DataType) -> Result<ArrayRef, ArrowError> {
    cast_with_options(column, kind, &CastOptions { safe: false, ..CastOptions::default() })
}

/// Texts are Arrow's, and read back as the same cells.
fn check(column: &ArrayRef) -> Result<(), TestCaseError> {
    let (own, arrow) = (texts(column), by_arrow(column, &DataType::LargeUtf8));
    prop_assert_eq!(own.is_ok(), arrow.is_ok(), "{:?}", column);
    let (Ok(own), Ok(arrow)) = (own, arrow) else { return Ok(()) };
    prop_assert_eq!(&own, arrow.as_string::<i64>());
    let again = typed(&own, column.data_type());
    prop_assert!(again.is_ok(), "{:?}", again);
    prop_assert_eq!(&again.unwrap(), column);
    Ok(())
}

fn column<T: ArrowPrimitiveType>(cells: &[Option<T::Native>], kind: &DataType) -> ArrayRef {
    let array: PrimitiveArray<T> = cells.iter().copied().collect();
    Arc::new(array.with_data_type(kind.clone()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn numbers_are_written_and_read_as_arrow_does(cells in prop::collection::vec(any::<Option<i64>>(), 0..9)) {
        macro_rules! whole {
            ($($kind:ident: $own:ty),*) => {$(
                let own: Vec<_> = cells.iter().map(|cell| cell.map(|cell| cell as $own)).collect();
                check_all::<$kind>(&own)?;
            )*};
        }
        whole!(Int8Type: i8, Int16Type: i16, Int32Type: i32, Int64Type: i64,
            UInt8Type: u8, UInt16Type: u16, UInt32Type: u32, UInt64Type: u64);
        let truths: BooleanArray = cells.iter().map(|cell| cell.map(|cell| cell % 2 == 0)).collect();
        check(&(Arc::new(truths) as ArrayRef))?;
    }

    #[test]
    fn floats_read_back_as_they_were(cells in prop::collection::vec(any::<Option<f64>>(), 0..9)) {
        let wide: PrimitiveArray<Float64Type> = cells.iter().copied().collect();
        let again = typed(&texts(&wide).unwrap(), &DataType::Float64).unwrap();
        prop_assert_eq!(again.as_primitive::<Float64Type>(), &wide);
        let narrow: PrimitiveArray<Float32Type> = cells.iter().map(|cell| cell.map(|cell| cell as f32)).collect();
        let again = typed(&texts(&narrow).unwrap(), &DataType::Float32).unwrap();
        prop_assert_eq!(again.as_primitive::<Float32Type>(), &narrow);
    }

    #[test]
    fn decimals_are_written_and_read_as_arrow_does(
        cells in prop::collection::vec(any::<Option<i128>>(), 0..9),
        scale in 0i8..9,
    ) {
        let small = |most: i128| cells.iter().map(|cell| cell.map(|cell| cell % most)).collect::<Vec<_>>();
        let most = 10i128.pow(9);
        let own: Vec<_> = small(most).iter().map(|cell| cell.map(|cell| cell as i32)).collect();
        check(&column::<Decimal32Type>(&own, &DataType::Decimal32(9, scale)))?;
        let own: Vec<_> = small(most * most).iter().map(|cell| cell.map(|cell| cell as i64)).collect();
        check(&column::<Decimal64Type>(&own, &DataType::Decimal64(18, scale)))?;
        check(&column::<Decimal128Type>(&small(10i128.pow(38)), &DataType::Decimal128(38, scale)))?;
        let own: Vec<_> = cells.iter().map(|cell| cell.map(i256::from_i128)).collect();
        check(&column::<Decimal256Type>(&own, &DataType::Decimal256(76, scale)))?;
    }

    #[test]
    fn moments_are_written_and_read_as_arrow_does(
        cells in prop::collection::vec(any::<Option<i64>>(), 0..5),
        within in 1i64..=400_000_000_000,
    ) {
        use {DataType as T, TimeUnit as U};
        let seconds: Vec<_> = cells.iter().map(|cell| cell.map(|cell| cell % within)).collect();
        let days: Vec<_> = seconds.iter().map(|cell| cell.map(|cell| (cell / 86_400) as i32)).collect();
        check(&column::<Date32Type>(&days, &T::Date32))?;
        for zone in [None, Some(Arc::from("+00:00"))] {
            check(&column::<TimestampSecondType>(&seconds, &T::Timestamp(U::Second, zone.clone())))?;
            check(&column::<TimestampMillisecondType>(&seconds, &T::Timestamp(U::Millisecond, zone.clone())))?;
            check(&column::<TimestampMicrosecondType>(&seconds, &T::Timestamp(U::Microsecond, zone.clone())))?;
            check(&column::<TimestampNanosecondType>(&cells, &T::Timestamp(U::Nanosecond, zone)))?;
        }
        let in_day = |units: i64| cells.iter().map(move |cell| cell.map(|cell| cell.rem_euclid(units)));
        let narrow = |units: i64| in_day(units).map(|cell| cell.map(|cell| cell as i32)).collect::<Vec<_>>();
        check(&column::<Time32SecondType>(&narrow(86_400), &T::Time32(U::Second)))?;
        check(&column::<Time32MillisecondType>(&narrow(86_400_000), &T::Time32(U::Millisecond)))?;
        let wide = |units: i64| in_day(units).collect::<Vec<_>>();
        check(&column::<Time64MicrosecondType>(&wide(86_400_000_000), &T::Time64(U::Microsecond)))?;
        check(&column::<Time64NanosecondType>(&wide(86_400_000_000_000), &T::Time64(U::Nanosecond)))?;
    }

    #[test]
    fn texts_and_bytes_are_what_they_are(cells in prop::collection::vec(any::<Option<String>>(), 0..9)) {
        use DataType as T;
        let plain: ArrayRef = Arc::new(cells.iter().map(Option::as_deref).collect::<StringArray>());
        for kind in [T::Utf8, T::LargeUtf8, T::Utf8View, T::Binary, T::LargeBinary, T::BinaryView] {
            check(&by_arrow(&plain, &kind).unwrap())?;
        }
    }

    #[test]
    fn shared_values_are_those_of_their_rows(
        keys in prop::collection::vec(prop::option::of(0i8..3), 0..9),
        values in prop::collection::vec(any::<Option<i32>>(), 3),
    ) {
        let values: ArrayRef = Arc::new(values.into_iter().collect::<PrimitiveArray<Int32Type>>());
        let dictionary = DictionaryArray::try_new(keys.into_iter().collect::<Int8Array>(), values).unwrap();
        let plain = by_arrow(&dictionary, &DataType::Int32).unwrap();
        prop_assert_eq!(&unshared(&dictionary).unwrap(), &plain);
        let (shared, own) = (Texts::of(&dictionary).unwrap(), texts(&plain).unwrap());
        prop_assert!((0..plain.len()).all(|row| shared.get(row) == own.is_valid(row).then(|| own.value(row))));
    }
}

fn check_all<T: ArrowPrimitiveType>(cells: &[Option<T::Native>]) -> Result<(), TestCaseError> {
    check(&column::<T>(cells, &T::DATA_TYPE))
}

#[test]
fn moments_that_no_calendar_has_are_errors() {
    let far = |kind: &DataType| texts(&column::<Date64Type>(&[Some(i64::MAX)], kind)).is_err();
    assert!(far(&DataType::Date64));
    assert!(
        texts(&column::<Time32SecondType>(&[Some(86_400)], &DataType::Time32(TimeUnit::Second))).is_err()
    );
    assert!(typed(&LargeStringArray::from(vec!["2024-02-30"]), &DataType::Date32).is_err());
    assert!(typed(&LargeStringArray::from(vec!["1.234"]), &DataType::Decimal128(9, 2)).is_err());
    assert!(typed(&LargeStringArray::from(vec!["300"]), &DataType::UInt8).is_err());
}
