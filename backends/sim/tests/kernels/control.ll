; LLVM IR by hand: a switch, a loop with two exits, an alloca of dynamic size, an irreducible loop,
; and integers of odd widths. The front ends make none of these.

target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare ptr addrspace(5) @llvm.stacksave.p5()
declare void @llvm.stackrestore.p5(ptr addrspace(5))

define amdgpu_kernel void @choose(ptr addrspace(1) %x, ptr addrspace(1) %y) {
entry:
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr i32, ptr addrspace(1) %x, i32 %id
  %to = getelementptr i32, ptr addrspace(1) %y, i32 %id
  %v = load i32, ptr addrspace(1) %from
  br label %head
head:
  %n = phi i32 [ 0, %entry ], [ %next, %latch ]
  %acc = phi i32 [ %v, %entry ], [ %merged, %latch ]
  %key = urem i32 %acc, 7
  switch i32 %key, label %other [
    i32 0, label %done
    i32 1, label %one
    i32 2, label %two
    i32 5, label %one
  ]
one:
  %a = mul i32 %acc, 3
  br label %latch
two:
  %b = call i32 @llvm.fshl.i32(i32 %acc, i32 %v, i32 5)
  br label %latch
other:
  %c = add i32 %acc, 13
  br label %latch
latch:
  %merged = phi i32 [ %a, %one ], [ %b, %two ], [ %c, %other ]
  %next = add i32 %n, 1
  %more = icmp ult i32 %next, 20
  br i1 %more, label %head, label %done
done:
  %result = phi i32 [ %acc, %head ], [ %merged, %latch ]
  %steps = phi i32 [ %n, %head ], [ 20, %latch ]
  %mixed = xor i32 %result, %steps
  store i32 %mixed, ptr addrspace(1) %to
  ret void
}

; Room for %size words on the stack, the same for all lanes, filled and summed from its end.
define amdgpu_kernel void @stack(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %size) {
entry:
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr i32, ptr addrspace(1) %x, i32 %id
  %to = getelementptr i32, ptr addrspace(1) %y, i32 %id
  %v = load i32, ptr addrspace(1) %from
  br label %again
again:
  %round = phi i32 [ 0, %entry ], [ %round.next, %sum.end ]
  %total = phi i32 [ 0, %entry ], [ %sum.next, %sum.end ]
  %saved = call ptr addrspace(5) @llvm.stacksave.p5()
  %room = alloca i32, i32 %size, addrspace(5)
  br label %fill
fill:
  %i = phi i32 [ 0, %again ], [ %i.next, %fill ]
  %value = mul i32 %i, %v
  %cell = getelementptr i32, ptr addrspace(5) %room, i32 %i
  store i32 %value, ptr addrspace(5) %cell
  %i.next = add i32 %i, 1
  %filling = icmp ult i32 %i.next, %size
  br i1 %filling, label %fill, label %sum
sum:
  %j = phi i32 [ %size, %fill ], [ %j.next, %sum ]
  %sum.so.far = phi i32 [ %total, %fill ], [ %sum.next, %sum ]
  %j.next = sub i32 %j, 1
  %at = getelementptr i32, ptr addrspace(5) %room, i32 %j.next
  %loaded = load i32, ptr addrspace(5) %at
  %scaled = mul i32 %sum.so.far, 3
  %sum.next = add i32 %scaled, %loaded
  %summing = icmp ugt i32 %j.next, 0
  br i1 %summing, label %sum, label %sum.end
sum.end:
  call void @llvm.stackrestore.p5(ptr addrspace(5) %saved)
  %round.next = add i32 %round, 1
  %again.more = icmp ult i32 %round.next, 3
  br i1 %again.more, label %again, label %end
end:
  store i32 %sum.next, ptr addrspace(1) %to
  ret void
}

; Two blocks that jump into each other, entered at either.
define amdgpu_kernel void @irreducible(ptr addrspace(1) %x, ptr addrspace(1) %y) {
entry:
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr i32, ptr addrspace(1) %x, i32 %id
  %to = getelementptr i32, ptr addrspace(1) %y, i32 %id
  %v = load i32, ptr addrspace(1) %from
  %odd = trunc i32 %v to i1
  br i1 %odd, label %left, label %right
left:
  %l = phi i32 [ %v, %entry ], [ %r.next, %right ]
  %ln = phi i32 [ 0, %entry ], [ %rn.next, %right ]
  %l.next = add i32 %l, 5
  %ln.next = add i32 %ln, 1
  %l.end = icmp ugt i32 %ln.next, 9
  br i1 %l.end, label %end, label %right
right:
  %r = phi i32 [ %v, %entry ], [ %l.next, %left ]
  %rn = phi i32 [ 0, %entry ], [ %ln.next, %left ]
  %r.next = mul i32 %r, 3
  %rn.next = add i32 %rn, 1
  %r.end = icmp ugt i32 %rn.next, 7
  br i1 %r.end, label %end, label %left
end:
  %result = phi i32 [ %l.next, %left ], [ %r.next, %right ]
  store i32 %result, ptr addrspace(1) %to
  ret void
}

; Fields of 5, 24 and 33 bits, and a vector of truth values.
define amdgpu_kernel void @odd(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr i64, ptr addrspace(1) %x, i32 %id
  %to = getelementptr i64, ptr addrspace(1) %y, i32 %id
  %v = load i64, ptr addrspace(1) %from
  %five = trunc i64 %v to i5
  %five.wide = sext i5 %five to i64
  %middle = lshr i64 %v, 5
  %c24 = trunc i64 %middle to i24
  %c24.squared = mul i24 %c24, %c24
  %c24.wide = zext i24 %c24.squared to i64
  %top = lshr i64 %v, 29
  %c33 = trunc i64 %top to i33
  %c33.shifted = ashr i33 %c33, 3
  %c33.wide = sext i33 %c33.shifted to i64
  %pair = bitcast i64 %v to <4 x i16>
  %small = icmp slt <4 x i16> %pair, <i16 100, i16 -100, i16 0, i16 5000>
  %mask = bitcast <4 x i1> %small to i4
  %mask.wide = zext i4 %mask to i64
  %s1 = add i64 %five.wide, %c24.wide
  %s2 = xor i64 %s1, %c33.wide
  %s3 = mul i64 %s2, 16
  %s4 = or i64 %s3, %mask.wide
  store i64 %s4, ptr addrspace(1) %to
  ret void
}
